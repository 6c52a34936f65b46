"""Attention and the Transformer, small enough to read.

One module, one idea.

The model: ``attention`` (the mechanism, and many heads of it), ``positions`` (where a token stands), ``transformer``
(the block, and a stack of them), ``causality`` (which input moves which output).

The experiments, by page. ``<name>_study`` declares the long runs whose results lie in ``data/``; ``study`` runs them.
    variance-study     scaling
    multi-head         heads, heads_study
    transformer-block  gradients, cost, cost_study
    reverse-task       reversal, reversal_study, uva (a well-known recipe), speed (timed), reversal_weights (trained)
    in-control         deadtime, deadtime_study, deadtime_maps (trained), arx, smith,
                       lag_attention, lag_banks, lag_study

The figures: ``plotting`` (style, heat maps, what ``show`` makes of a figure), ``diagrams`` (boxes and arrows),
``block_figure`` (the block); ``lab`` (what an interactive figure is), ``labs`` (each of them), ``progress`` (bars).

The exercises: ``exercises``, the checks of each page.

Letters, everywhere the same: B batch, n queries (positions), m keys, h heads, d width of the vectors,
d_k width per head.
"""

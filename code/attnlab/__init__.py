"""Attention and the Transformer, small enough to read.

One module, one idea: ``attention`` (the mechanism), ``positions`` (where a token stands), ``transformer``
(the block), and beside them the experiments and figures of the pages.

Letters, everywhere the same: B batch, n queries (positions), m keys, h heads, d width of the vectors,
d_k width per head.
"""

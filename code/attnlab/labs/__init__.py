"""The interactive figures of the pages, one module each; their text is that of the pages, in Chinese.

A figure that computes in the browser has a twin of its ``draw`` in ``_static/lab-<kind>.js``: both write the same SVG,
which the tests compare. Change them together.
"""

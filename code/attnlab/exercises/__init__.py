"""Checks for the exercises of the pages, one module a page.

A check takes the reader's answer and returns a ``Verdict``, in Chinese, that says what is wrong and not only
that something is. It never raises: the page, with its untouched stubs, must still build.
"""

"""Whoever looks for the room of a change finds it in the first lines of the package."""

import pkgutil
import re

import attnlab


def test_every_module_is_named():
    modules = {module.name for module in pkgutil.iter_modules(attnlab.__path__)}
    named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", attnlab.__doc__))
    assert modules - named == set()

"""Find what Jupyter Book would ignore in a _config.yml without a word: unknown keys, extensions not loaded."""

import difflib
import json
from importlib import resources

import yaml


def ignored(config: dict) -> list[str]:
    """One line for each unknown key, with the nearest known one. Keys under sphinx.config are checked by Sphinx."""
    faults = []
    _compare(config, _known(), "", faults)
    sphinx = config.get("sphinx") or {}
    for name in sphinx.get("local_extensions") or {}:
        # A list of extensions replaces the one that Jupyter Book would add this one to.
        if name not in (sphinx.get("config") or {}).get("extensions", [name]):
            faults.append(f"sphinx.local_extensions.{name} must stand in sphinx.config.extensions too")
    return faults


def _known() -> dict:
    """Known keys, nested: those of the default configuration and those of the schema (each lacks some)."""
    package = resources.files("jupyter_book")
    known = yaml.safe_load((package / "default_config.yml").read_text(encoding="utf-8"))
    _merge(known, json.loads((package / "config_schema.json").read_text(encoding="utf-8")))
    known["bibtex_reference_style"] = None
    known["sphinx"]["config"] = known["sphinx"]["local_extensions"] = None  # free keys
    return known


def _merge(known: dict, schema: dict) -> None:
    for key, value in schema.get("properties", {}).items():
        if value.get("properties"):
            known[key] = known.get(key) or {}
            _merge(known[key], value)
        else:
            known.setdefault(key, None)


def _compare(config: dict, known: dict, path: str, faults: list[str]) -> None:
    for key, value in config.items():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0)
            faults.append(f"unknown key {path}{key}; the nearest known one is {path}{near[0]}")
        elif isinstance(value, dict) and isinstance(known[key], dict):
            _compare(value, known[key], f"{path}{key}.", faults)

"""Find what Jupyter Book ignores without a word, or reports in a hundred lines, in _config.yml and _toc.yml."""

import difflib
import json
from importlib import resources
from pathlib import Path

import yaml
from sphinx_external_toc.parsing import MalformedError, parse_toc_data


def faults_of(book: Path, toc: bool = True) -> list[str]:
    """One line for each fault of the book's _config.yml and, unless a page is built alone, of its _toc.yml."""
    faults = []
    for name, check in [("_config.yml", ignored), ("_toc.yml", lambda toc: misplaced(toc, book))][: 1 + toc]:
        try:
            found = check(yaml.safe_load((book / name).read_text(encoding="utf-8")))
        except yaml.MarkedYAMLError as fault:
            line = f":{fault.problem_mark.line + 1}" if fault.problem_mark else ""
            faults.append(f"{name}{line}: not YAML: {fault.problem}")
        else:
            faults += [f"{name}: {fault}" for fault in found]
    return faults


def misplaced(toc: dict, book: Path) -> list[str]:
    """One line for each page that is listed and does not exist, and each in chapters/ that would not be built."""
    try:
        listed = [name.removesuffix(".md") for name in parse_toc_data(toc)]
    except MalformedError as fault:
        return [str(fault)]
    pages = [path.relative_to(book).with_suffix("").as_posix() for path in sorted(book.glob("chapters/*.md"))]
    missing = [name for name in listed if not (book / f"{name}.md").is_file()]
    return [f"no file {name}.md{nearest(name, pages)}" for name in missing] + [
        f"{name}.md is not listed, and would not be built; wanted a line - file: {name}"
        for name in pages
        if name not in listed
    ]


def nearest(name: str, known: list[str]) -> str:
    """For the end of a message; empty if nothing is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; the nearest is {near[0]}.md" if near else ""


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

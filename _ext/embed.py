"""The code cell that carries attnlab, so that a notebook runs where nothing but its own file is.

It holds exactly the modules and data files that the notebook's cells need (closure.py). Modules stand in it as they
are, to be read; other files packed. Of a font it holds the characters that occur in the code: a tenth of its size.
"""

import ast
import base64
import textwrap
import zlib
from pathlib import Path

import uharfbuzz as harfbuzz
from closure import closure

TITLE = "載入本書的程式（請先執行這一格）"
# What MyST-NB's glue does in a notebook: it shows the value. Only the site puts values into the text.
GLUE = '''\
"""Stands for the package that builds the book: a notebook needs only this one function of it."""

from IPython.display import display as show


def glue(name, variable, display=True):
    if display:
        show(variable)
'''
ASCII = {chr(code) for code in range(32, 127)}

CELL = """\
#@title {title} {{ display-mode: "form" }}
# 這一頁用到的 attnlab：寫進暫存資料夾再匯入，不必安裝，也不必連上網路。
def load(modules, packed):
    import base64, importlib, pathlib, sys, tempfile, zlib

    folder = pathlib.Path(tempfile.mkdtemp())
    files = {{path: text.encode() for path, text in modules.items()}}
    files |= {{path: zlib.decompress(base64.b85decode(text)) for path, text in packed.items()}}
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    # 重新執行這一格時，換掉先前匯入的。
    for name in [name for name in sys.modules if name.split(".")[0] in ("attnlab", "myst_nb")]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()


load({{{modules}}}, {{{packed}}})"""


def embedded(cells: list[str], package: Path) -> str:
    """The source of the cell for a notebook with these code cells, or nothing where they import nothing of the book."""
    files = closure(cells, package)
    modules = {path: path.read_text(encoding="utf-8") for path in files if path.suffix == ".py"}
    texts = {name_of(path, package): text for path, text in modules.items()}
    if any("myst_nb" in cell for cell in cells):
        texts["myst_nb.py"] = GLUE
    if not texts:
        return ""
    characters = ASCII.union(*cells, *modules.values())
    packed = {name_of(path, package): pack(path, characters) for path in files if path not in modules}
    return CELL.format(
        title=TITLE,
        modules="".join(f"\n{name!r}: {literal(text)},\n" for name, text in texts.items()),
        packed="".join(f"\n{name!r}:\n{text},\n" for name, text in packed.items()),
    )


def name_of(path: Path, package: Path) -> str:
    return path.relative_to(package.parent).as_posix()


def literal(text: str) -> str:
    """A Python literal of the text that a reader can read, if there is one."""
    readable = f"r'''{text}'''"
    try:
        if ast.literal_eval(readable) == text:
            return readable
    except SyntaxError:
        pass
    return repr(text)


def pack(path: Path, characters: set[str]) -> str:
    """A literal of the file's bytes, compressed."""
    content = part_of_font(path, characters) if path.suffix == ".otf" else path.read_bytes()
    letters = base64.b85encode(zlib.compress(content, 9)).decode()
    return "\n".join(repr(line) for line in textwrap.wrap(letters, 100))


def part_of_font(path: Path, characters: set[str]) -> bytes:
    chosen = harfbuzz.SubsetInput()
    chosen.unicode_set.update(map(ord, characters))
    chosen.name_id_set.update(range(25))  # the licence, too
    chosen.flags = harfbuzz.SubsetFlags.NOTDEF_OUTLINE
    return harfbuzz.subset(harfbuzz.Face(harfbuzz.Blob.from_file_path(str(path))), chosen).blob.data

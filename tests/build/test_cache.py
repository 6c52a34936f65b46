"""What runs again after a change, and that a rebuild is the same site as a clean build, anywhere."""

from dataclasses import dataclass

import pytest
from books import Book, notebook

PAGES = {
    "index": "# 首頁 Home\n\n{ref}`甲 <direct-title>`\n",
    "direct": notebook(
        "direct",
        "from attnlab.leaf import K\nfrom myst_nb import glue\nglue('direct-k', f'{K:.2f}', display=False)\nK",
        "值是 {glue:text}`direct-k`，舊的字。",
    ),
    "through": notebook("through", "import attnlab.middle\nattnlab.middle.TWICE"),
    "data": notebook("data", "from attnlab.other import numbers\nnumbers()"),
    "alone": notebook("alone", "{'a', 'b', 'c', 'd'}, hash('x')"),
}
FILES = {
    "code/attnlab/leaf.py": "K = 3.0\n",
    "code/attnlab/middle.py": "from .leaf import K\n\nTWICE = 2 * K\n",
    "code/attnlab/other.py": (
        "import json\nfrom pathlib import Path\n\n\n"
        "def numbers():\n    return json.loads((Path(__file__).parent / 'data' / 'numbers.json').read_text())\n"
    ),
    "code/attnlab/data/numbers.json": "[1, 2]\n",
    "code/attnlab/data/unused.json": "[0]\n",
}
EVERY_PAGE = ["alone", "data", "direct", "through"]
HERE = {"TZ": "UTC", "LANG": "C", "LC_ALL": "C", "PYTHONHASHSEED": "1"}
ELSEWHERE = {"TZ": "Asia/Taipei", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2"}

pytestmark = pytest.mark.xdist_group("cache")  # one history for all tests of this module


@dataclass
class Step:
    runs: list[str]
    site: dict[str, bytes]


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """One book built after each of several edits; each step: what ran, and the site."""
    book = Book(tmp_path_factory.mktemp("here") / "book", PAGES, FILES)
    steps = {}

    def step(name):
        code, output = book.build(**HERE)
        assert code == 0, output
        steps[name] = Step(book.runs(), book.site())

    step("first")
    step("nothing")
    book.replace("direct.md", "舊的字", "新的字")
    book.replace("through.md", "頁 Page through", "改名 Renamed")
    step("prose")
    book.write("code/attnlab/leaf.py", "K = 4.0\n")
    step("module")
    book.write("code/attnlab/data/numbers.json", "[3, 4]\n")
    book.write("code/attnlab/data/unused.json", "[5]\n")
    step("data")
    book.write("constraints.txt", "torch==2.13.1\n")
    step("packages")

    again = book.copy(tmp_path_factory.mktemp("elsewhere-with-a-longer-name") / "deeper" / "copy")
    code, output = again.build(**ELSEWHERE)
    assert code == 0, output
    steps["clean"] = Step(again.runs(), again.site())
    return steps


def test_the_first_build_runs_every_page(history):
    assert history["first"].runs == EVERY_PAGE
    assert '值是 <span class="pasted-text">3.00</span>' in page(history, "first", "direct")


def test_nothing_changed(history):
    assert history["nothing"].runs == []
    assert differing(history["nothing"], history["first"]) == []


def test_prose_edits_run_nothing_and_show(history):
    assert history["prose"].runs == []
    assert "新的字" in page(history, "prose", "direct")
    assert "改名 Renamed" in page(history, "prose", "alone")  # its menu too


def test_a_module_runs_the_pages_that_import_it_directly_or_not(history):
    assert history["module"].runs == ["direct", "through"]
    assert '<span class="pasted-text">4.00</span>' in page(history, "module", "direct")
    assert "8.0" in page(history, "module", "through")


def test_a_data_file_runs_the_pages_that_read_it(history):
    assert history["data"].runs == ["data"]
    assert "[3, 4]" in page(history, "data", "data")


def test_other_packages_run_everything(history):
    assert history["packages"].runs == EVERY_PAGE


def test_the_last_rebuild_is_a_clean_build_in_another_folder_time_zone_and_locale(history):
    assert history["clean"].runs == EVERY_PAGE
    assert differing(history["clean"], history["packages"]) == []


def page(history, step, name):
    return history[step].site[f"{name}.html"].decode()


def differing(one, other):
    return sorted(name for name in one.site.keys() | other.site.keys() if one.site.get(name) != other.site.get(name))


def test_pages_run_at_the_same_time(tmp_path):
    """Each of two pages waits for the other to begin."""
    wait = """\
import pathlib, time
runs, end = pathlib.Path(os.environ["RUNS"]), time.monotonic() + 60
while set(runs.read_text().split()) != {"one", "two"}:
    assert time.monotonic() < end, "the other page has not begun"
    time.sleep(0.05)"""
    pages = {"index": "# 首頁 Home\n", "one": notebook("one", wait), "two": notebook("two", wait)}
    code, output = Book(tmp_path / "book", pages).build()
    assert code == 0, output
    assert "executing 2 notebook(s)" in output and "[2/2]" in output

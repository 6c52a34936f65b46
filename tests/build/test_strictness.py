"""Each fault fails the build with a message that names it, and fails it again when nothing was changed."""

from books import HEADER, Book, cell, notebook


def build_twice(book):
    """The two outputs; both builds must fail."""
    outputs = []
    for _ in range(2):
        code, output = book.build()
        assert code != 0, output
        outputs.append(output)
    return outputs


def test_faults_in_the_text(tmp_path):
    page = """\
# 首頁 Home

沒有這個標籤：{ref}`甲 <no-such-label>`。沒有這一頁：[乙](no-such-page.md)。沒有這個式子：{eq}`eq-none`。

沒有這篇論文 {cite}`nobody1999`，沒有這個詞 {term}`無此詞`。

![沒有這張圖](no-such-picture.png)

沒有這個指令：$\\nosuchcommand x$。
"""
    book = Book(tmp_path / "book", {"index": page})
    book.replace("_config.yml", "    nb_merge_streams: true", "    nb_merge_strems: true")
    for output in build_twice(book):
        for sign in (
            "'no-such-label'",
            "no-such-page.md",
            "eq-none",
            '"nobody1999"',
            "無此詞",
            "no-such-picture.png",
            "nosuchcommand",
            "'nb_merge_strems'",
        ):
            assert sign in output
        assert "index.md:3: WARNING: undefined label" in output
        assert "Traceback" not in output


def test_faults_in_the_cells(tmp_path):
    pages = {
        "index": "# 首頁 Home\n",
        "raising": notebook("raising", "x = 1\nraise ArithmeticError(f'no {x + 1}')"),
        "complaining": notebook("complaining", "import warnings\nwarnings.warn('please look', stacklevel=1)"),
        "sound": notebook("sound", "1 + 1"),
    }
    book = Book(tmp_path / "book", pages)
    first, second = build_twice(book)
    for output in (first, second):
        assert output.count("ArithmeticError: no 2") == 1
        assert "raising, code cell 2 (line 23): " in output
        assert "raise ArithmeticError(f'no {x + 1}')" in output
        assert "complaining, code cell 2 (line 23) wrote to stderr: " in output
        assert "UserWarning: please look" in output
        assert "sphinx" not in output.replace("sphinx-build", "").lower()  # no inside of the tools
    assert book.runs() == ["complaining", "raising"]  # the sound page comes from the cache the second time
    assert "sound: " in first and "sound: " not in second

    book.replace("raising.md", "raise ArithmeticError(f'no {x + 1}')", "x")
    book.replace("complaining.md", "warnings.warn('please look', stacklevel=1)", "pass")
    code, output = book.build()
    assert code == 0, output
    assert book.runs() == ["complaining", "raising"]


def test_pages_that_would_not_run_as_notebooks(tmp_path):
    other_kernel = HEADER.replace("name: python3", "name: conda-env-mine-py") + "# 頁 Page\n\n" + cell("1 + 1")
    pages = {"index": "# 首頁 Home\n", "bare": "# 頁 Page\n\n" + cell("1 + 1"), "kernel": other_kernel}
    book = Book(tmp_path / "book", pages)
    for output in build_twice(book):
        assert "bare: code cells but no notebook header (jupytext, kernelspec), so none would run" in output
        assert "kernel: kernelspec.name must be 'python3', got 'conda-env-mine-py'" in output
        assert "Traceback" not in output


def test_keys_that_jupyter_book_would_ignore(tmp_path):
    book = Book(tmp_path / "book", {"index": "# 首頁 Home\n"})
    book.replace("_config.yml", "\nexecute:\n", "\nexceute:\n")
    book.replace("_config.yml", "  recursive_update:", "  recursive_updates:")
    book.replace("_config.yml", "      - execute\n", "")
    for output in build_twice(book):
        assert output.splitlines() == [
            "_config.yml: unknown key exceute; the nearest known one is execute",
            "_config.yml: unknown key sphinx.recursive_updates; the nearest known one is sphinx.recursive_update",
            "_config.yml: sphinx.local_extensions.execute must stand in sphinx.config.extensions too",
        ]

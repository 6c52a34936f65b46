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
            "_config.yml: sphinx.config: unknown key 'nb_merge_strems'",
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
        assert "bare: no notebook header (jupytext, kernelspec)" in output
        assert "so none of its code cells would run" in output
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


def test_pages_and_the_table_of_contents(tmp_path):
    pages = {"index": "# 首頁 Home\n", "chapters/listed": "# 頁 Listed\n"}
    book = Book(tmp_path / "book", pages, {"chapters/forgotten.md": "# 頁 Forgotten\n"})
    book.replace("_toc.yml", "chapters/listed", "chapters/lsted")
    for output in build_twice(book):
        assert output.splitlines() == [
            "_toc.yml: no file chapters/lsted.md; the nearest is chapters/listed.md",
            "_toc.yml: chapters/forgotten.md is not listed, and would not be built; "
            "wanted a line - file: chapters/forgotten",
            "_toc.yml: chapters/listed.md is not listed, and would not be built; wanted a line - file: chapters/listed",
        ]
    book.replace("_toc.yml", "- file: chapters/lsted", "- file: chapters/listed\n- file: chapters/forgotten")
    code, output = book.build()
    assert code == 0, output


def test_files_of_settings_that_are_no_yaml(tmp_path):
    book = Book(tmp_path / "book", {"index": "# 首頁 Home\n"})
    book.write("_toc.yml", "root: index\n file: a\n")
    book.write("_config.yml", "title: 甲\nexecute: {timeout: [3}\n")
    for output in build_twice(book):
        config, toc = output.splitlines()
        assert config.startswith("_config.yml:2: not YAML: ") and toc.startswith("_toc.yml:2: not YAML: ")
    book.write("_toc.yml", "format: jb-book\nroot: index\nchapters:\n- fil: a\n")
    assert "_toc.yml: entry does not contain one of" in book.build()[1]


def test_faults_in_a_notebook(tmp_path):
    """Its text is resolved twice, for the site and for Colab; each fault is told once, and no inside of the tools."""
    prose = "{ref}`甲 <no-such-label>`，![沒有](no-such-picture.png)"
    book = Book(tmp_path / "book", {"index": notebook("index", "1", prose)})
    for output in build_twice(book):
        assert output.count("no-such-label") == output.count("no-such-picture.png") == 1
        assert "Traceback" not in output


def test_a_figure_nobody_describes_and_a_character_without_a_glyph(tmp_path):
    draw = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()"
    pages = {
        "index": "# 首頁 Home\n",
        "bare": notebook("bare", f"{draw}\nplt.show()"),
        "glyph": notebook("glyph", f"{draw}\nax.set_title('\U00020000')\nfig.canvas.draw()\nplt.close()"),
    }
    for output in build_twice(Book(tmp_path / "book", pages)):
        assert "bare, code cell 2 (line 23): a figure without a description; wanted show(fig, alt=…)" in output
        assert "The font of the figures lacks \U00020000: make font adds it." in output


def test_a_header_that_is_no_yaml(tmp_path):
    bare = HEADER.replace("format_name: myst", 'format_name: "myst') + "# 頁 Page\n\n" + cell("1 + 1")
    other = "---\nmyst: {}\n---\n# 頁 Page\n\n" + cell("1 + 1")
    for output in build_twice(Book(tmp_path / "book", {"index": "# 首頁 Home\n", "bare": bare, "other": other})):
        assert "bare: line 8: the header is not YAML: " in output
        assert "other: the header is not that of a notebook; wanted jupytext and kernelspec" in output


def test_one_page_alone(tmp_path):
    """References to the rest of the book are no faults; all others are."""
    text = "{ref}`甲 <other-title>`、[乙](other.md)、{eq}`eq-there`。"
    other = "(other-title)=\n# 頁 Other\n\n$$\nx\n$$ (eq-there)\n"
    book = Book(tmp_path / "book", {"index": "# 首頁 Home\n", "page": notebook("page", "1", text), "other": other})
    code, output = book.build("--page", "page.md")
    assert code == 0 and "WARNING" not in output, output
    html = next(line for line in output.splitlines() if line.startswith("page: ")).split()[1]
    assert (book.folder / html).is_file()

    book.replace("page.md", "other-title", "other-titel")
    for _ in range(2):
        code, output = book.build("--page", "page.md")
        assert code == 1 and output.count("undefined label: 'other-titel'") == 1
        assert output.endswith("make page: page.md has faults, see above\n")


def test_a_page_that_is_not_there(tmp_path):
    book = Book(tmp_path / "book", {"index": "# 首頁 Home\n", "chapters/multi-head": "# 頁 Page\n"})
    for name, report in {
        "multi-head": "no file multi-head; the nearest is chapters/multi-head.md",
        "chapters/multihead.md": "no file chapters/multihead.md; the nearest is chapters/multi-head.md",
        "nothing-like-it": "no file nothing-like-it",
        "": "which one? Wanted such as PAGE=chapters/multi-head.md",
    }.items():
        assert book.build("--page", name) == (1, f"make page: {report}\n")

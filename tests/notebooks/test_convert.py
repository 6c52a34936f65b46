"""From a page to a notebook, on small books: every construct has its form, or the build says which has none."""

import json

import pytest
from books import HEADER, Book, cell
from lint import faults

PAGE = rf"""{HEADER}(sec-one)=
# 頁一 Page *One*

```{{admonition}} 學習目標
:class: tip

- 甲 {{term}}`注意力`，$\mathbf q$ 與 **粗** 和 `code|x`。
- 乙 \<b> & 5 * 3 * 2 a_b_c

  $$
  a < b
  $$ (eq-in)
```

```{{note}}
註 {{cite}}`known2017`。
```

```{{admonition}} 額外
:class: note, dropdown

內容。
```

(one-a)=
## 第一節

見{{ref}}`那裡 <two-b>`、{{ref}}`one-a`、[第二頁](two.md)、{{eq}}`eq-in`、{{eq}}`eq-two`、[站外](https://example.org/a_(b))。

量到 {{glue:text}}`one-x`。

{{eq}}`eq-in` 在句首。

$$
\begin{{aligned}} a &= b \\ c &> d \end{{aligned}}
$$ (eq-one)

| 甲 | 乙 |
|:-:|--:|
| $a\mid b$ | `x` {{term}}`查詢的 <注意力>` |

1. 一
   - 內
2. 二

> 引文

````{{dropdown}} 解答
文字 $x$。

$$
y = 1
$$

```python
print("a")
```
````

{{download}}`files.py <code/files.py>`

![一張圖](dot.svg)

註腳[^a]。

[^a]: 註腳的文字。

{
    cell('''from myst_nb import glue

from attnlab.m import f

glue("one-x", "42.0", display=False)
print(f())''')
}
{
    cell(''':tags: [hide-input]
# 看
f()''')
}
{
    cell(''':tags: [remove-cell]
secret = 2''')
}
{
    cell(''':tags: [hide-cell]
secret''')
}
"""
TWO = r"""(sec-two)=
# 頁二 Page Two

(two-b)=
## 乙

$$
z
$$ (eq-two)

```{glossary}
注意力
attention
  定義。
```

```{bibliography}
```
"""
FILES = {
    "code/attnlab/m.py": "def f():\n    return 7\n",
    "code/files.py": "x = 1\n",
    "dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
}
pytestmark = pytest.mark.xdist_group("colab")  # one book for most of them
SITE = "https://someone.github.io/fork"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("colab") / "book", {"one": PAGE, "two": TWO}, FILES)
    code, output = book.build(GITHUB_REPOSITORY="someone/fork")
    assert code == 0, output
    return book


@pytest.fixture(scope="module")
def notebook(book):
    return json.loads(book.site()["notebooks/one.ipynb"])


@pytest.fixture(scope="module")
def markdown(notebook):
    return "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


@pytest.mark.parametrize(
    "form",
    [
        "# 頁一 Page *One*",
        f"[本書網頁]({SITE}/one.html)",
        "> **學習目標**\n>\n> - 甲 [注意力](",
        "，$\\mathbf q$ 與 **粗** 和 `code|x`。",
        "> - 乙 &lt;b&gt; & 5 \\* 3 \\* 2 a_b_c",
        ">   $$a \\lt b \\tag{1}$$",
        "> 註 [[Known, 2017](",
        "<details>\n<summary>額外</summary>\n\n內容。\n\n</details>",
        f"見[那裡]({SITE}/two.html#two-b)、第一節、[第二頁]({SITE}/two.html)、(1)、[(3)]({SITE}/two.html#equation-eq-two)",
        "[站外](https://example.org/a_%28b%29)",
        "量到 42.0。",
        "\n(1) 在句首。",
        "\n$$\n\\begin{aligned} a &= b \\\\ c &\\gt  d \\end{aligned} \\tag{2}\n$$",
        "| 甲 | 乙 |\n| :-: | --: |\n| $a\\mid b$ | `x` [查詢的](",
        "1. 一\n",
        "   - 內",
        "> 引文",
        '<summary>解答</summary>\n\n文字 $x$。\n\n$$y = 1$$\n\n```python\nprint("a")\n```\n\n</details>',
        f"[`files.py`]({SITE}/_downloads/",
        "![一張圖](data:image/svg+xml;base64,",
        "註腳<sup>[1]</sup>",
        "> [1] 註腳的文字。",
    ],
)
def test_the_form_of(markdown, form):
    assert form in markdown


def test_cells(notebook):
    carrier, plain, folded, removed, hidden = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert "attnlab/m.py" in "".join(carrier["source"])
    assert plain["outputs"][0]["text"] == ["7\n"] and len(plain["outputs"]) == 1  # no record of glue
    assert folded["source"][0] == '#@title 看 { display-mode: "form" }\n'
    assert folded["outputs"][0]["data"] == {"text/plain": ["7"]}
    assert removed["source"][-1] == "secret = 2" and removed["outputs"] == []
    assert hidden["metadata"]["jupyter"] == {"outputs_hidden": True, "source_hidden": True}
    assert faults(notebook) == []


def test_buttons_follow_the_fork(book):
    page = book.site()["one.html"].decode()
    assert 'href="https://colab.research.google.com/github/someone/fork/blob/gh-pages/notebooks/one.ipynb"' in page
    assert 'href="notebooks/one.ipynb"' in page
    assert b"colab.research" not in book.site()["two.html"]
    assert [path for path in book.site() if path.endswith(".ipynb")] == ["notebooks/one.ipynb"]


def test_the_same_bytes_again(book):
    first = book.site()["notebooks/one.ipynb"]
    code, output = book.build(GITHUB_REPOSITORY="someone/fork")  # from the cache of runs
    assert code == 0, output
    assert book.runs() == []
    assert book.site()["notebooks/one.ipynb"] == first


def test_what_has_no_form_is_an_error(tmp_path):
    tabs = "````{tab-set}\n```{tab-item} 丙\n丁\n```\n````"
    page = f"{HEADER}(sec-one)=\n# 頁 Page\n\n甲 <b>乙</b>\n\n{tabs}\n\n{cell('1 + 1')}"
    book = Book(tmp_path / "book", {"one": page})
    code, output = book.build()
    assert code != 0
    assert "one.md:14: WARNING: one: no form in a notebook for raw" in output
    assert "no form in a notebook for container" in output and "tab-set" in output
    assert "Traceback" not in output


def test_a_theme_without_the_button_is_an_error(tmp_path):
    book = Book(tmp_path / "book", {"one": f"{HEADER}(sec-one)=\n# 頁 Page\n\n{cell('1 + 1')}"})
    book.replace("_config.yml", "launch_buttons: {colab_url: https://colab.research.google.com}", "launch_buttons: {}")
    code, output = book.build()
    assert code != 0
    assert "one: wanted one button with {'text': 'Colab'} from the theme, got 0" in output

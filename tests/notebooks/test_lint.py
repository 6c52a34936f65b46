"""The exported notebooks are clean, and the lint that says so notices damage."""

import copy

import pytest
from exported import PAGES, raw
from lint import faults, joined

EXAMPLE = "chapters/scaled-dot-product"


@pytest.mark.parametrize("page", PAGES)
def test_clean(page):
    assert faults(raw(page)) == []


def text(cells, addition):
    """Damage to the text of the third Markdown cell."""
    cell = [cell for cell in cells if cell["cell_type"] == "markdown"][2]
    cell["source"] = joined(cell["source"]) + addition


def code(cells, number=1):
    return [cell for cell in cells if cell["cell_type"] == "code"][number]


def stream(name, words):
    return {"output_type": "stream", "name": name, "text": words}


TEXTS = {
    "directive": "\n\n```{note}\n註\n```",
    "directive in a quote": "\n\n> ```{tip}\n> 註\n> ```",
    "colon fence": "\n\n:::{tip}\n註\n:::",
    "target": "\n\n(sdp-here)=\n",
    "role": "\n\n見 {ref}`sdp-here`。",
    "label of an equation": "\n\n$$\nx\n$$ (eq-x)",
    "substitution": "\n\n{{ number }}",
    "comment": "\n\n% 註",
    "block break": "\n\n+++\n",
    "footnote": "\n\n註[^1]",
    "option": "\n\n:class: tip",
    "environment": "\n\n\\begin{align}\nx\n\\end{align}",
    "emphasis": "\n\n這是**重點：**字",
    "escaped emphasis": "\n\n\\*\\*重點\\*\\*",
    "empty link": "\n\n[](https://example.org)",
    "relative link": "\n\n[頁](variance-study.html)",
    "relative image": "\n\n![圖](figure.png)",
    "attachment": "\n\n![圖](attachment:figure.png)",
    "script": "\n\n<script>x</script>",
    "half a formula": "\n\n$$x",
    "half an inline formula": "\n\n長度 $x",
}


@pytest.mark.parametrize("name", TEXTS)
def test_damaged_text(name):
    notebook = copy.deepcopy(raw(EXAMPLE))
    text(notebook["cells"], TEXTS[name])
    assert len(faults(notebook)) >= 1


def test_texts_that_only_look_like_damage():
    notebook = copy.deepcopy(raw(EXAMPLE))
    text(
        notebook["cells"],
        "\n\n`{ref}` 與 `$x$`、`**`，(a)=b，$f_{\\theta}\\{x\\}$，\\$5"
        "\n\n```python\nx = {1: 2}\n(a)=\n$$\n```\n\n$$\nx \\tag{1}\n$$",
    )
    assert faults(notebook) == []


DAMAGES = {
    "no ids": lambda nb: nb.update(nbformat_minor=4),
    "not valid": lambda nb: nb["cells"][0].update(cell_type="prose"),
    "other kernel": lambda nb: nb["metadata"]["kernelspec"].update(name="python311"),
    "widget state": lambda nb: nb["metadata"].update(widgets={}),
    "too large": lambda nb: code(nb["cells"]).update(outputs=[stream("stdout", "長" * 600_000)]),
    "no title": lambda nb: nb["cells"].pop(0),
    "no carrier": lambda nb: nb["cells"].remove(code(nb["cells"], 0)),
    "carrier not folded": lambda nb: code(nb["cells"], 0)["metadata"].clear(),
    "folded in Colab alone": lambda nb: code(nb["cells"], 0)["metadata"].pop("jupyter"),
    "pip": lambda nb: code(nb["cells"]).update(source="%pip install torch"),
    "shell": lambda nb: code(nb["cells"]).update(source="!git clone https://example.org/x"),
    "fetch": lambda nb: code(nb["cells"]).update(source="import urllib.request"),
    "stderr": lambda nb: code(nb["cells"]).update(outputs=[stream("stderr", "UserWarning")]),
    "path": lambda nb: code(nb["cells"]).update(outputs=[stream("stdout", "/home/someone/x.py")]),
    "error": lambda nb: code(nb["cells"]).update(
        outputs=[{"output_type": "error", "ename": "ValueError", "evalue": "", "traceback": []}]
    ),
    "widget": lambda nb: code(nb["cells"]).update(
        outputs=[
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "0"}},
            }
        ]
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_notebook(name):
    notebook = copy.deepcopy(raw(EXAMPLE))
    DAMAGES[name](notebook)
    assert len(faults(notebook)) >= 1

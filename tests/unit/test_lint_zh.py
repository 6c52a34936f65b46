"""The Chinese lint: each rule catches its fault, leaves the right look-alike alone, and finds nothing in the book."""

import pytest
from lint_zh import lint_book, lint_page, lint_python

TITLE = "(sec-page)=\n# 標題 Title\n\n"


def findings(body: str) -> list[str]:
    return [f"{line - 4}: {message}" for line, message in lint_page(TITLE + body, "page")]


WRONG = {
    "Simplified": ("注意力机制。", "0: characters: got 机, wanted 機"),
    "Simplified, common in Big5": ("只有几個。", "0: characters: got 几, wanted 幾"),
    "variant that Taiwan does not write": ("因爲。", "0: characters: got 爲, wanted 為"),
    "Simplified in a comment of a cell": ("```{code-cell} ipython3\nx = 1  # 查询\n```", "1: characters: got 询"),
    "mainland word": ("神經網絡。", "0: words: got 網絡, wanted 網路"),
    "mainland word, long": ("用掩碼遮住，代碼在下面。", "0: words: got 代碼, wanted 程式碼"),
    "mainland spelling of a word": ("正弦與余弦。", "0: words: got 余弦, wanted 餘"),
    "break in a paragraph": ("第一行\n第二行。", "0: line breaks: got one after 「第一行」"),
    "break after full-width punctuation": ("第一行，\nsecond。", "0: line breaks"),
    "break in a list": ("- 項目\n  還有。", "0: line breaks"),
    "break in an admonition": (":::{admonition} 題目\n:class: tip\n第一行\n第二行。\n:::", "2: line breaks"),
    "break in a nested fence": ("````{dropdown} 解答\n```{note}\n第一\n第二。\n```\n````", "2: line breaks"),
    "break in a glossary": ("```{glossary}\n詞條\nterm\n  第一行\n  第二行\n```", "4: line breaks"),
    "emphasis that stays asterisks": ("**注意：**文字。", "0: emphasis: got asterisks"),
    "emphasis in a table": ("| 甲 |\n|---|\n| 這是**「值」**的 |", "2: emphasis"),
    "half-width comma": ("甲,乙。", "0: punctuation: got 「甲,乙。」"),
    "half-width colon after Chinese": ("如下: 甲。", "0: punctuation"),
    "half-width full stop": ("結束.", "0: punctuation"),
    "half-width parentheses": ("權重(和為一)。", "0: punctuation"),
    "no space before Latin": ("看attention 的輸出。", "0: spaces: got 「看atten」"),
    "no space after a digit": ("共 5個。", "0: spaces"),
    "no space beside a formula": ("矩陣$A$ 的列。", "0: spaces: got 「矩陣◦ 的列。」"),
    "no space beside code": ("參數 `d`是。", "0: spaces"),
    "no space beside a number from the run": ("正確率 {glue:text}`a-b`就好。", "0: spaces"),
    "figure label": ('```{code-cell} ipython3\nax.set(title="位置差k")\n```', "1: spaces"),
    "figure label, punctuation": ('```{code-cell} ipython3\n:tags: [a]\nax.set(title="左,右")\n```', "2: punctuation"),
    "heading without label": ("## 小節", "0: labels: got none"),
    "heading with a Chinese label": ("(小節)=\n## 小節", "1: labels: got 小節"),
    "label far from its heading": ("(page-x)=\n\n文字。\n\n## 小節", "4: labels: got none"),
}

RIGHT = {
    "Taiwanese text": "每個位置的向量為 $\\mathbf x_i$，裡面有 5 個分量（見 {term}`注意力`），台灣寫「啟」「線」。",
    "words with a right use": "函數、一階程序、質量 2 公斤、演算法、算法相同、均方誤差、共變異數、循環小數。",
    "two paragraphs": "第一段。\n\n第二段。",
    "list items on lines of their own": "- 甲\n- 乙\n\n1. 丙\n2. 丁",
    "English text may break": "One line\nand another.",
    "table": "| 甲 | 乙 |\n|---|---|\n| 1 | $x$ |",
    "hard break": "第一行\\\n第二行。",
    "emphasis that works": "這是**重點**，也是 *note*。**注意**：文字。",
    "asterisks meant as such": "寫成 a \\*\\* b、`x ** 2` 與 3 * 4。",
    "half-width in English, numbers and code": "見 `f(a, b)`、(a, b)、e.g. this: that，比 1,500 大，12:30。",
    "parentheses around Latin only": "注意力 (attention) 與多頭 (multi-head)。",
    "formula beside full-width punctuation": "得到 $x$、$y$，而 `z`。",
    "role that shows Chinese": "這是{term}`加權平均 <注意力>`的{ref}`例子 <page-a>`。",
    "display formula": "由定義：\n\n$$\na, b: c\n$$ (page-eq)\n\n所以。",
    "code cell": '```{code-cell} ipython3\n---\ntags: [a]\n---\nx, y = f(1,2)  # 註解,不管\ny = f"第 {x} 步"\n```',
    "labelled heading": "(page-a)=\n\n## 小節\n\n(page-b)=\n### 再小一節",
    "admonition with options": ":::{admonition} 學習目標\n:class: tip\n\n- 甲\n- 乙\n:::",
    "glossary": "```{glossary}\n注意力\nattention\n  一行說完。\n\n鍵\nkey\n  一行。\n```",
    "front matter is no text": "文字。",
}


@pytest.mark.parametrize("name", WRONG)
def test_fault_is_found_once_at_its_line(name):
    body, wanted = WRONG[name]
    found = findings(body)
    assert any(message.startswith(wanted) for message in found), found


@pytest.mark.parametrize("name", RIGHT)
def test_right_text_is_left_alone(name):
    assert findings(RIGHT[name]) == []


def test_title_wants_the_label_of_its_page():
    assert [m for _, m in lint_page("(sec-other)=\n# 標題\n", "page")] == [
        "labels: got sec-other before the title, wanted sec-page"
    ]
    assert lint_page("---\nkernelspec:\n  name: python3\n---\n\n(sec-page)=\n# 標題\n", "page") == []


def test_python_files_too():
    code = '"""Docs: fine, all of it."""\n\n# 注释\nraise ValueError(f"形狀不合,得到 {x}")\n'
    assert [(line, message.split(":")[0]) for line, message in lint_python(code)] == [
        (3, "characters"),
        (4, "punctuation"),
    ]


def test_messages_name_file_and_line(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "code").mkdir()
    (tmp_path / "index.md").write_text("(sec-index)=\n# 首頁\n\n网。\n", encoding="utf-8")
    (tmp_path / "chapters" / "a.md").write_text("(sec-a)=\n# 頁\n", encoding="utf-8")
    (tmp_path / "code" / "b.py").write_text('x = "默認"\n', encoding="utf-8")
    assert lint_book(tmp_path) == [
        "index.md:4: characters: got 网, wanted 網",
        "code/b.py:1: words: got 默認, wanted 預設",
    ]


def test_the_book():
    assert lint_book() == []

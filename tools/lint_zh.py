"""Look over the Chinese text of the book (part of ``make lint``).

Pages are read with the parser that also builds the site, so that rules see what a reader sees: text without code,
formulas and directive names. Rules, each with what came and what was wanted:

- characters: ideographs that Taiwan does not write
- words: terms of the mainland, with the word used in Taiwan
- line breaks: one paragraph is one source line, because a break between Chinese characters shows as a space
- emphasis: asterisks that CommonMark leaves as asterisks
- labels: an ASCII ``(label)=`` before each heading, ``sec-<page>`` before the first
- punctuation: full width after Chinese
- spaces: one between Chinese and Latin letters, digits, formulas or code

Python files under code/ and the code cells of pages are looked over for characters and words, and their string
literals (labels of figures, descriptions, messages) also for punctuation and spaces.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from opencc import OpenCC
from sources import ROOT, code_cells, modules, pages, strings

Finding = tuple[int, str]  # line, message

HAN = "\u3400-\u9fff"
CODE = "\ue000"  # stands for code, a formula, or a number that comes from a run
TO_TAIWAN = OpenCC("s2tw")
# Common in Big5, yet in today's text only as the Simplified form of another character.
SIMPLIFIED_IN_BIG5 = dict(zip("几听坏挂愿荐筑晒于么", "幾聽壞掛願薦築曬於麼", strict=True))

# Word (a regular expression): the word in Taiwan. 函數 is right in mathematics, 程序 for a process that is controlled,
# 質量 for the mass of a body; only their other uses are listed.
WORDS = {
    "變壓器": "Transformer",
    "令牌": "詞元",
    "掩碼|掩膜": "遮罩",
    "層?歸一化": "正規化",
    "循環(神經)?網[路絡]|遞歸": "遞迴網路",
    "網絡": "網路",
    "激活函[數式]": "活化函數",
    "神經元網絡": "神經網路",
    "默認": "預設",
    "源碼|源代碼": "原始碼",
    "(?<!源)代碼": "程式碼",
    "程序(碼|員|設計)|應用程序|子程序": "程式",
    "函數庫": "函式庫",
    "變量": "變數",
    "常量": "常數",
    "標量": "純量",
    "矢量": "向量",
    "數組": "陣列",
    "(優化|學習|訓練|搜索|遺傳|傳播|貪心|排序)算法": "演算法",
    "隊列": "佇列",
    "字符": "字元",
    "字節": "位元組",
    "比特": "位元",
    "內存": "記憶體",
    "緩存": "快取",
    "硬盤": "硬碟",
    "接口": "介面",
    "線程": "執行緒",
    "屏幕": "螢幕",
    "鼠標": "滑鼠",
    "鏈接": "連結",
    "互聯網": "網際網路",
    "信息": "資訊（或訊息）",
    "數據": "資料",
    "元數據": "中繼資料",
    "優化": "最佳化",
    "視頻": "影片",
    "音頻": "音訊",
    "軟件": "軟體",
    "硬件": "硬體",
    "(高|低|圖像|影像|輸出)質量|質量[好高低差]": "品質",
    "魯棒": "穩健",
    "過擬合": "過度擬合",
    "採樣": "取樣",
    "反饋": "回饋",
    "概率": "機率",
    "協方差": "共變異數",
    "(?<![均協])方差": "變異數",
    "噪聲": "雜訊",
    "時延": "時間延遲",
    "打印": "印出",
    "調用": "呼叫",
    "創建": "建立",
    "加載": "載入",
    "文本": "文字",
    "並行": "平行",
    "分辨率": "解析度",
    "命令行": "命令列",
    "智能": "智慧",
    "人工神經": "類神經",
    # Right as characters, wrong in these words: what is left when Simplified text is turned over by halves.
    "[以之最然隨前]后|后[面來續者]": "後",
    "[這那哪心頁]里|里面": "裡",
    "余弦|剩余|其余": "餘",
    "系數|關系|聯系": "係",
    "准確|標准|基准": "準",
    "范[圍數例]": "範",
    "采[用樣取]": "採",
    "只[有要]一只": "隻",
    "台灣海里": "臺灣",
}
WORD = re.compile("|".join(f"(?P<w{i}>{word})" for i, word in enumerate(WORDS)))

PUNCTUATION = re.compile(rf"[{HAN}](\.(?![\w{CODE}])|[,;:!?]|\.\.\.)|[{HAN}] ?\((?=[^()]*[{HAN}])|[,;:!?][{HAN}]")
NO_SPACE = re.compile(rf"[{HAN}][A-Za-z0-9{CODE}]|[A-Za-z0-9{CODE}%][{HAN}]")

# Directives whose body is not Markdown to be read.
BODY_IS_NO_TEXT = {"code-cell", "code-block", "code", "literalinclude", "math", "toctree", "bibliography", "raw"}


def characters(text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.split("\n"), 1):
        for character in sorted(set(re.findall(f"[{HAN}]", line)), key=line.index):
            if (wanted := taiwanese(character)) != character:
                yield number, f"characters: got {character}, wanted {wanted or 'a character used in Taiwan'}"


def taiwanese(character: str) -> str:
    """The character itself if Taiwan writes it; else what it writes instead, empty if that is unknown."""
    if character in SIMPLIFIED_IN_BIG5:
        return SIMPLIFIED_IN_BIG5[character]
    wanted = TO_TAIWAN.convert(character)
    try:
        common = character.encode("big5") < b"\xc9\x40"  # Big5 has the common characters first
    except UnicodeEncodeError:
        return wanted if wanted != character else ""
    return character if common else wanted


def words(text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.split("\n"), 1):
        for match in WORD.finditer(line):
            wanted = list(WORDS.values())[int(str(match.lastgroup)[1:])]
            yield number, f"words: got {match[0]}, wanted {wanted}"


def punctuation_and_spaces(text: str) -> Iterator[str]:
    """For a run of text as the reader sees it, with CODE in place of code and formulas."""
    for match in PUNCTUATION.finditer(text):
        yield f"punctuation: got {around(text, match)}, wanted full-width ，。：；？！（） with Chinese"
    for match in NO_SPACE.finditer(text):
        yield f"spaces: got {around(text, match)}, wanted a space between Chinese and Latin, digits or formulas"


def around(text: str, match: re.Match) -> str:
    part = text[max(0, match.start() - 4) : match.end() + 4].replace("\n", " ")
    return f"「{part.replace(CODE, '◦')}」"


def parse(text: str) -> list[Token]:
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    extensions = set(config["parse"]["myst_enable_extensions"])
    parser = create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)
    parser.disable("text_join")  # keeps \* apart from *
    return parser.parse(text)


def role_text(token: Token) -> str:
    """What the reader sees of a role such as {term}`文字 <target>`."""
    name, content = token.meta["name"], token.content
    if name in ("term", "ref", "doc", "download"):
        return re.sub(r"\s*<[^<>]*>$", "", content)
    return CODE


def prose(text: str, first_line: int = 1) -> Iterator[Finding]:
    """The rules for running text, in directives too."""
    for token in parse(text):
        line = first_line + (token.map[0] if token.map else 0)
        if token.type in ("fence", "colon_fence") and token.info.startswith("{"):
            yield from directive(token, line)
        elif token.type == "inline":
            yield from inline(token.children or [], line)


def directive(token: Token, line: int) -> Iterator[Finding]:
    name, _, argument = token.info[1:].partition("}")
    if name in BODY_IS_NO_TEXT:
        return
    if argument.strip() and name not in ("figure", "image", "include"):
        yield from prose(argument.strip(), line)
    body, start = token.content, line + 1
    while option := re.match(r"(:[\w-]+:[^\n]*|---\n.*?\n---)\n", body, re.S):
        start += option[0].count("\n")
        body = body[option.end() :]
    if name == "glossary":
        yield from glossary(body, start)
    else:
        yield from prose(body, start)


def glossary(body: str, start: int) -> Iterator[Finding]:
    """Terms at the margin, one definition line below them."""
    before = ""
    for number, text in enumerate(body.split("\n"), start):
        if text.startswith(" ") and before.startswith(" "):
            yield number, "line breaks: got a definition of several lines, wanted one line"
        yield from prose(text.strip(), number)
        before = text


def inline(tokens: list[Token], line: int) -> Iterator[Finding]:
    seen = ""
    for i, token in enumerate(tokens):
        if token.type in ("text", "text_special"):
            stars = re.search(r"\*\*|\*(?=\S)|(?<=\S)\*", token.content)
            if stars and token.type == "text":
                message = f"emphasis: got asterisks that stay asterisks near 「{(seen + token.content)[-12:]}」"
                yield line, f"{message}, wanted punctuation outside **…**"
            seen += token.content
        elif token.type == "softbreak":
            after = tokens[i + 1].content if i + 1 < len(tokens) else ""
            if re.search(f"[{HAN}，。：；？！、（）「」]", seen[-1:] + after[:1]):
                yield line, f"line breaks: got one after 「{seen[-8:]}」, wanted one line a paragraph"
            seen += " "
            line += 1
        elif token.type == "hardbreak":
            seen += "\n"
            line += 1
        elif token.type == "myst_role":
            seen += role_text(token)
        elif token.type in ("code_inline", "math_inline", "math_inline_double", "substitution_inline"):
            seen += CODE
        elif token.type == "image":
            yield from inline(token.children or [], line)
    for message in punctuation_and_spaces(seen):
        yield line, message


def labels(text: str, page: str) -> Iterator[Finding]:
    tokens = parse(text)
    first = True
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type != "heading_open":
            continue
        line = (token.map or [0])[0] + 1
        label = before.content if before is not None and before.type == "myst_target" else ""
        if not re.fullmatch(r"[a-z][a-z0-9-]*", label):
            yield line, f"labels: got {label or 'none'} before a heading, wanted (ascii-label)= on the line above"
        elif first and label not in (f"sec-{page}", page):
            yield line, f"labels: got {label} before the title, wanted sec-{page}"
        first = False


def literals(code: str, first_line: int = 1) -> Iterator[Finding]:
    for line, value in strings(code, first_line):
        for message in punctuation_and_spaces(value):
            yield line, message


def lint_page(text: str, page: str) -> list[Finding]:
    findings = [*characters(text), *words(text), *prose(text), *labels(text, page)]
    for line, cell in code_cells(text):
        findings += literals(cell, line)
    return sorted(findings)


def lint_python(code: str) -> list[Finding]:
    return sorted([*characters(code), *words(code), *literals(code)])


def lint_book(root: Path = ROOT) -> list[str]:
    """Every finding as ``file:line: rule: got …, wanted …``."""
    found = []
    for path in [*pages(root), *modules(root)]:
        text = path.read_text(encoding="utf-8")
        findings = lint_python(text) if path.suffix == ".py" else lint_page(text, path.stem)
        found += [f"{path.relative_to(root)}:{line}: {message}" for line, message in findings]
    return found


if __name__ == "__main__":
    complaints = lint_book()
    print("\n".join(complaints) or "Chinese text: nothing found")
    sys.exit(bool(complaints))

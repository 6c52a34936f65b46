"""What other programs read of a page: canonical address, card for social networks, sitemap.

The address of the site is that of the repository (repository.py); nothing here depends on when or where it is built.
"""

import html
import re
import warnings
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes
from repository import site, slug_of

FONT = Path("code/attnlab/fonts/NotoSansTC-Regular-subset.otf")
COURSE = "智慧型控制 › 深度學習"
WIDTH, HEIGHT = 1200, 630  # pixels; what the networks ask for
# 多頭注意力 Multi-Head Attention, but not 注意力機制與 Transformer, whose English is part of the Chinese.
ENGLISH_END = re.compile(r"(.*?[^\x00-\x7f]\S*)(?<![與和的]) ([A-Z][A-Za-z .,'/()-]*[A-Za-z)])$")


def setup(app):
    app.connect("config-inited", set_address, priority=600)  # after repository.py
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": False}


def set_address(app, config):
    config.html_baseurl = site(slug_of(app)) + "/"
    config.html_additional_pages = config.html_additional_pages | {"404": "404.html"}


def describe(app, page, template, context, doctree):
    base = app.config.html_baseurl
    context["site_path"] = urlsplit(base).path
    if doctree is None:
        context["pageurl"] = None
        return
    if page == app.config.root_doc:
        context["pageurl"] = base
    title = app.env.titles[page].astext()
    tags = {
        "og:type": "article",
        "og:locale": "zh_TW",
        "og:site_name": app.config.html_title,
        "og:title": title,
        "og:url": context["pageurl"],
    }
    if description := next((meta["content"] for meta in doctree.findall(is_description)), ""):
        card = f"_static/cards/{page.replace('/', '-')}.png"
        draw_card(Path(app.outdir) / card, title, description, Path(app.srcdir) / FONT)
        tags |= {
            "og:description": description,
            "og:image": base + card,
            "og:image:width": str(WIDTH),
            "og:image:height": str(HEIGHT),
            "og:image:alt": title,
        }
        context["metatags"] += '\n<meta name="twitter:card" content="summary_large_image">'
    for name, content in tags.items():
        context["metatags"] += f'\n<meta property="{name}" content="{html.escape(content, quote=True)}">'


def is_description(node) -> bool:
    return isinstance(node, nodes.meta) and node.get("name") == "description"


def draw_card(path: Path, title: str, description: str, font: Path) -> None:
    """The page as a picture: course, title, description, and a causal attention matrix of four positions."""
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor="#10202e")

    def write(x, y, text, size, colour):
        properties = FontProperties(fname=font, size=size) if font.is_file() else FontProperties(size=size)
        figure.text(x, y, text, fontproperties=properties, color=colour, va="top", linespacing=1.5)

    found = ENGLISH_END.match(title)
    chinese, english = found.groups() if found else (title, "")
    write(0.07, 0.87, COURSE, 20, "#9fb8cc")
    write(0.07, 0.74, chinese, 46 * min(1, 32 / columns(chinese)), "#ffffff")
    write(0.07, 0.58, english, 24, "#56b4e9")
    write(0.07, 0.44, "\n".join(lines(description, 52)[:4]), 20, "#dde6ee")
    axes = figure.add_axes((0.76, 0.13, 0.17, 0.17 * WIDTH / HEIGHT))
    weights = [[1.0 / (i + 1) ** 0.7 if j <= i else 0 for j in range(4)] for i in range(4)]
    axes.imshow(weights, cmap="viridis", vmin=0, vmax=1)
    axes.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a character that the font lacks; make font makes the font again
        # matplotlib's version would be written into the file, and nobody needs it there.
        figure.savefig(path, metadata={"Software": None})


def columns(text: str) -> int:
    """Width in Latin letters; a Chinese character is as wide as two."""
    return sum(1 if character.isascii() else 2 for character in text)


def lines(text: str, width: int) -> list[str]:
    """Broken between Chinese characters and between Latin words, but never before a punctuation mark."""
    found = [""]
    for piece in re.findall(r"(?:[!-~]+|.)[，。、；：？！）」]*\s?", text):
        if columns(found[-1] + piece.rstrip()) > width:
            found.append("")
        found[-1] += piece
    return found


def write_sitemap(app, exception):
    if exception or app.builder.name != "html":
        return
    root, base = app.config.root_doc, app.config.html_baseurl
    urls = [base if page == root else base + app.builder.get_target_uri(page) for page in sorted(app.env.found_docs)]
    lines = "".join(f"<url><loc>{html.escape(url)}</loc></url>\n" for url in urls)
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    (Path(app.outdir) / "sitemap.xml").write_text(f"{text}{lines}</urlset>\n", encoding="utf-8")

"""Time the build and weigh the pages (make bench). Ratios come first: they say the same on any machine.

Works on a copy of the book in a temporary folder; takes a few minutes.
"""

import gzip
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from browser import launch
from jupyter_cache import get_cache
from playwright.sync_api import sync_playwright
from torch import Tensor

from attnlab.attention import causal_mask, scaled_dot_product_attention

ROOT = Path(__file__).resolve().parent.parent
# Milliseconds for ten digits through the model that the page carries.
FORWARD = """() => {
  const data = JSON.parse(document.querySelector("#lab-reverse script").textContent);
  const kind = labKinds.reverse(data);
  const times = Array.from({ length: 101 }, () => {
    const begin = performance.now();
    kind.forward([3, 1, 4, 1, 5, 9, 2, 6, 5, 3]);
    return performance.now() - begin;
  });
  return times.sort((a, b) => a - b)[50];
}"""
LEAVE = (".venv", "_build", ".git", "__pycache__", "*.egg-info")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "book"
        shutil.copytree(ROOT, book, ignore=shutil.ignore_patterns(*LEAVE))
        bench_builds(book)
        weigh(book / "_build" / "html")
        bench_figures(book / "_build" / "html")
        subprocess.run([sys.executable, ROOT / "tools" / "first_visit.py", book / "_build" / "html"], check=True)
    bench_attention()
    subprocess.run([sys.executable, "-m", "attnlab.speed"], check=True)  # the reverse task: time to 100 %


def bench_builds(book: Path) -> None:
    workers = max(2, os.cpu_count() or 1)
    cold = build(book)
    seconds = cell_seconds(book)
    busiest = longest_share(seconds, workers)
    unchanged = build(book)
    page = book / "chapters" / "scaled-dot-product.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n多一句話。\n", encoding="utf-8")
    prose = build(book)
    module = book / "code" / "attnlab" / "causality.py"
    module.write_text(module.read_text(encoding="utf-8") + "\n# a comment\n", encoding="utf-8")
    one_module = build(book)

    print(f"\nbuild, {workers} pages at a time")
    row("cold build / all pages one after the other", cold / sum(seconds.values()))
    row("cold build / busiest core's pages", cold / busiest, "aim: below 1.3")
    row("no-change rebuild / cold build", unchanged / cold)
    row("prose edit / cold build", prose / cold)
    row("one-module edit (causality.py) / cold build", one_module / cold)
    print(f"  seconds here: cold {cold:.1f} (aim: below 90), no change {unchanged:.1f} (aim: below 8),", end=" ")
    print(f"prose {prose:.1f}, one module {one_module:.1f}")
    print(
        "  pages: " + ", ".join(f"{name} {s:.1f} s" for name, s in sorted(seconds.items(), key=lambda item: -item[1]))
    )


def build(book: Path) -> float:
    begin = time.monotonic()
    done = subprocess.run([sys.executable, ROOT / "tools" / "build.py", book], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.monotonic() - begin


def cell_seconds(book: Path) -> dict[str, float]:
    """How long each page ran in the last build, from the cache of runs."""
    records = get_cache(book / "_build" / ".jupyter_cache").list_cache_records()
    return {Path(record.uri).stem: record.data["execution_seconds"] for record in records}


def longest_share(seconds: dict[str, float], workers: int) -> float:
    """The load of the busiest of so many workers when the pages are shared out as evenly as may be."""
    loads = [0.0] * workers
    for value in sorted(seconds.values(), reverse=True):
        loads[loads.index(min(loads))] += value
    return max(loads)


def weigh(html: Path) -> None:
    """What a first visit transfers for each page, compressed; pictures and fonts are compressed already."""
    print("\nweight of each page: its HTML, in KiB (gzip)")
    for path in sorted(html.rglob("*.html")):
        if path.stem not in ("genindex", "search"):
            text = path.read_bytes()
            print(f"  {path.relative_to(html).as_posix():<40} {kib(len(text)):7.0f}  ({kib(packed(text)):.0f})")
    shared = [path for path in (html / "_static").rglob("*") if path.suffix in (".css", ".js", ".woff2")]
    print(f"  scripts, styles and fonts there are: {kib(sum(packed(path.read_bytes()) for path in shared)):.0f} (gzip)")
    print(f"  the whole site: {kib(sum(path.stat().st_size for path in html.rglob('*') if path.is_file())):.0f}")


def bench_figures(html: Path) -> None:
    """What the interactive figures add to each page, and how long the model in the page takes for ten digits."""
    scripts = sum(packed(path.read_bytes()) for path in (html / "_static").glob("lab*"))
    print(f"\ninteractive figures: KiB in each page (gzip; aim: below 60), and {kib(scripts):.0f} of scripts for all")
    for path in sorted((html / "chapters").glob("*.html")):
        figures = re.findall(r'<figure class="lab".*?</figure>', path.read_text(encoding="utf-8"), re.S)
        if figures:
            text = "".join(figures).encode()
            print(f"  {path.relative_to(html).as_posix():<40} {kib(len(text)):7.0f}  ({kib(packed(text)):.0f})")
    # The whole page is loaded, as a reader's browser would; nothing but it is within reach.
    with sync_playwright() as playwright:
        browser = launch(playwright)
        tab = browser.new_page()
        tab.route(re.compile("^(?!file:|data:)"), lambda route: route.abort())
        tab.goto((html / "chapters" / "reverse-task.html").as_uri())
        print(f"  forward pass in the browser: {tab.evaluate(FORWARD):.1f} ms, median of 101 (aim: below 5)")
        browser.close()


def packed(content: bytes) -> int:
    return len(gzip.compress(content, 6, mtime=0))


def kib(size: int) -> float:
    return size / 1024


def bench_attention() -> None:
    """The book's attention against PyTorch's, in turns, so that a busy machine slows both alike."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    print("\nattention: the book's time / F.scaled_dot_product_attention's, median of 15 turns, one thread")
    for n in (64, 256, 1024):
        inputs = [torch.randn(4, 4, n, 32, generator=generator) for _ in range(3)]
        for name, own_options, options in (
            ("all allowed", {}, {}),
            ("causal", {"allowed": causal_mask(n)}, {"is_causal": True}),
        ):
            ratios = [
                timed(scaled_dot_product_attention, inputs, own_options)
                / timed(F.scaled_dot_product_attention, inputs, options)
                for _ in range(15)
            ]
            row(f"n = {n}, {name}", statistics.median(ratios))


def timed(function: Callable, inputs: list[Tensor], options: dict) -> float:
    begin = time.perf_counter()
    for _ in range(3):
        function(*inputs, **options)
    return time.perf_counter() - begin


def row(what: str, ratio: float, note: str = "") -> None:
    print(f"  {what:<48} {ratio:6.2f}  {note}".rstrip())


if __name__ == "__main__":
    main()

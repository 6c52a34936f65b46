"""How heavy and how fast the built site is for a reader (part of make bench).

    python tools/first_visit.py [_build/html]

Serves the site compressed, as web hosts do. Weighs a first visit to each page in Chromium (bytes sent, layout shift),
and, where npm is, lets Lighthouse judge each page as on a telephone: performance, accessibility, best practices, SEO.
"""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import tempfile
import threading
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from browser import FLAGS, chromium, launch
from playwright.sync_api import sync_playwright

LIGHTHOUSE = "lighthouse@12.2.3"
# It slows the processor down fourfold and measures: whatever else the machine does lowers the mark for performance.
RUNS = 3
ROOT = Path(__file__).resolve().parent.parent
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
SHIFT = """() => new Promise((done) => new PerformanceObserver((list) =>
  done(list.getEntries().reduce((sum, entry) => sum + entry.value, 0))).observe({type: "layout-shift", buffered: true})
  || setTimeout(() => done(0), 300))"""
AIMS = "aims: text page at most 200 KiB, heaviest 300; shift at most 0.02; performance at least 95, others 100"


class Compressed(SimpleHTTPRequestHandler):
    """Files, gzipped where that pays, and kept by the browser."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            self.send_error(404)
            return
        packed = path.suffix in (".html", ".css", ".js", ".svg", ".json", ".xml")
        body = compressed(path, path.stat().st_mtime_ns) if packed else path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Cache-Control", "max-age=31536000")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@cache
def compressed(path: Path, _time: int) -> bytes:
    return gzip.compress(path.read_bytes(), 6, mtime=0)


def serve(folder: Path) -> tuple[ThreadingHTTPServer, str]:
    """A server of the folder on this machine, and its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Compressed, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def weigh(site: Path, address: str, pages: list[str]) -> dict[str, tuple[float, float]]:
    """KiB sent and layout shift of a first visit to each page, on a telephone's screen."""
    found = {}
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for page in pages:
            context = browser.new_context(viewport={"width": 375, "height": 760}, has_touch=True)
            tab = context.new_page()
            sent = []
            tab.on("response", lambda response, sent=sent: sent.append(response.headers.get("content-length", "0")))
            tab.goto(f"{address}/{page}", wait_until="networkidle")
            found[page] = (sum(map(int, sent)) / 1024, tab.evaluate(SHIFT))
            context.close()
        browser.close()
    return found


def judge(address: str, page: str, folder: Path) -> str:
    """Lighthouse's marks for a page, each the middle one of a few runs, or why there are none."""
    npx = shutil.which("npx")
    if npx is None:
        return "(no npm, no Lighthouse)"
    report = folder / "report.json"
    options = ["--quiet", "--output=json", f"--output-path={report}", f"--only-categories={','.join(CATEGORIES)}"]
    flags = " ".join(["--headless=new", *FLAGS])
    command = [npx, "--yes", LIGHTHOUSE, f"{address}/{page}", *options, f"--chrome-flags={flags}"]
    marks: dict[str, list[float]] = {name: [] for name in CATEGORIES}
    for _ in range(RUNS):
        done = subprocess.run(command, env=os.environ | {"CHROME_PATH": chromium()}, capture_output=True, text=True)
        if done.returncode == 0:  # on a busy machine it may give up
            found = json.loads(report.read_text(encoding="utf-8"))["categories"]
            for name in CATEGORIES:
                marks[name].append(100 * found[name]["score"])
    if not marks["performance"]:
        return f"(Lighthouse ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-200:]})"
    speed = marks["performance"]
    middle = "  ".join(f"{name} {median(mark):.0f}" for name, mark in marks.items())
    return f"{middle}  (performance {min(speed):.0f} to {max(speed):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "_build" / "html")
    site = parser.parse_args().site.resolve()
    # These two are no pages to land on.
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    pages = [page for page in pages if page not in ("search.html", "404.html") and not page.startswith("_")]
    server, address = serve(site)
    print(f"\nfirst visit on a telephone ({AIMS})")
    weights = weigh(site, address, pages)
    with tempfile.TemporaryDirectory() as folder:
        for page, (weight, shift) in weights.items():
            marks = judge(address, page, Path(folder))
            print(f"  {page:<36} {weight:4.0f} KiB  shift {shift:.3f}  {marks}", flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()

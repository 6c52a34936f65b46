"""The browser that tests and benchmarks drive: the Chromium of this machine."""

import os
import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
# The last five: a browser's own calls home, which are none of the book's business.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str:
    """Its path: that of the environment's CHROMIUM, or the first found.

    Raises:
        FileNotFoundError: there is none.
    """
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise FileNotFoundError(f"no browser: looked for {', '.join(NAMES)}; name another with CHROMIUM=/path/to/it")
    return path


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=chromium(), args=FLAGS)

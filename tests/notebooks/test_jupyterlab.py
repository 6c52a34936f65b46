"""An interactive figure in a real JupyterLab: the slider that a reader sees is moved in a browser."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from socket import socket

import nbformat
import pytest
from browser import launch
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
CODE = "from attnlab.labs.scaling import scaling_lab\nscaling_lab()"
SLOW = 120_000  # ms


@pytest.fixture
def address(tmp_path):
    """A JupyterLab of its own, with one notebook in an otherwise empty home."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "figure.ipynb")
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    left_out = ("ATTNLAB_STATIC", "JUPYTER_CONFIG_DIR")
    environment = {key: value for key, value in os.environ.items() if key not in left_out}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "code"), "OMP_NUM_THREADS": "1"}
    settings = {"ServerApp": {"root_dir": str(tmp_path), "port": port, "open_browser": False, "allow_root": True}}
    (tmp_path / "config.json").write_text(json.dumps(settings | {"IdentityProvider": {"token": ""}}))
    command = [sys.executable, "-m", "jupyterlab", f"--config={tmp_path / 'config.json'}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, cwd=tmp_path, **quiet) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(f"{address}/api", server)
            yield address
        finally:
            server.terminate()


def wait_for(address: str, server: subprocess.Popen) -> None:
    begin = time.monotonic()
    while time.monotonic() < begin + SLOW / 1000:
        assert server.poll() is None, "JupyterLab ended at once; is requirements-lab.txt installed?"
        try:
            urllib.request.urlopen(address).close()
            return
        except urllib.error.URLError:
            time.sleep(0.3)
    raise TimeoutError(address)


def test_the_slider_moves_the_picture(address):
    with sync_playwright() as playwright:
        browser = launch(playwright)
        tab = browser.new_page()
        tab.set_default_timeout(SLOW)
        tab.route(re.compile(f"^(?!{address}|data:|blob:)"), lambda route: route.abort())
        tab.goto(f"{address}/lab/tree/figure.ipynb", wait_until="domcontentloaded")
        tab.locator(".jp-CodeCell .cm-content").click()
        tab.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        tab.keyboard.press("Shift+Enter")
        output = tab.locator(".jp-OutputArea").first
        handle = output.locator(".noUi-handle")
        handle.wait_for()
        assert "d＝2：" in output.inner_text() and output.locator("svg[viewBox^='0 0 340']").count() == 1
        assert output.locator("figure.lab").count() == 0  # the widget, not the static page's figure
        handle.focus()
        tab.keyboard.press("ArrowRight")
        tab.keyboard.press("ArrowRight")
        output.get_by_text("d＝8：").wait_for()
        assert "d＝2：" not in output.inner_text()
        browser.close()

"""The interactive figures with a kernel: with the book's ipywidgets, and with 7.7.1, which Colab has.

The tests play the front end: they send what a browser sends when a slider is moved, and read what the kernel sends.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from twins import assert_same_picture

from attnlab.labs.block import block_lab
from attnlab.labs.clocks import clocks_lab
from attnlab.labs.deadtime import deadtime_lab
from attnlab.labs.film import film_lab
from attnlab.labs.gain import gain_lab
from attnlab.labs.query import query_lab
from attnlab.labs.reverse import reverse_lab
from attnlab.labs.scaling import scaling_lab

ROOT = Path(__file__).parents[2]
PYTHONS = {"8": Path(sys.executable), "7.7.1": ROOT / ".venv-colab" / "bin" / "python"}
LABS = [query_lab, scaling_lab, clocks_lab, gain_lab, block_lab, reverse_lab, film_lab, deadtime_lab]
WAIT = 120


class FrontEnd:
    """A notebook's front end, as far as widgets go: the state of every widget, kept as the kernel reports it."""

    def __init__(self, python: Path, folder: Path):
        command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": command, "display_name": "one", "language": "python"}
        (folder / "one").mkdir()
        (folder / "one" / "kernel.json").write_text(json.dumps(spec))
        environment = {key: value for key, value in os.environ.items() if key != "ATTNLAB_STATIC"}
        environment |= {"PYTHONPATH": str(ROOT / "code"), "OMP_NUM_THREADS": "1", "IPYTHONDIR": str(folder)}
        specs = KernelSpecManager(kernel_dirs=[str(folder)])
        self.kernel = KernelManager(kernel_name="one", kernel_spec_manager=specs)
        self.kernel.start_kernel(env=environment, cwd=str(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = self.kernel.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=WAIT)
        self.widgets: dict[str, dict] = {}

    def close(self):
        self.client.stop_channels()
        self.kernel.shutdown_kernel(now=True)

    def execute(self, code: str) -> list[dict]:
        """The MIME bundles that the code displays."""
        return self._until_idle(self.client.execute(code))

    def send(self, widget: str, data: dict) -> None:
        """A message from the browser's half of a widget to the kernel's."""
        message = self.client.session.msg("comm_msg", {"comm_id": widget, "data": data})
        self.client.shell_channel.send(message)
        self._until_idle(message["header"]["msg_id"])

    def move(self, widget: str, **state) -> None:
        self.send(widget, {"method": "update", "state": state, "buffer_paths": []})

    def _until_idle(self, parent: str) -> list[dict]:
        shown, begin = [], time.monotonic()
        while time.monotonic() < begin + WAIT:
            message = self.client.get_iopub_msg(timeout=WAIT)
            kind, content = message["msg_type"], message["content"]
            if kind == "comm_open":
                self.widgets[content["comm_id"]] = dict(content["data"]["state"])
            elif kind == "comm_msg" and content["data"]["method"] in ("update", "echo_update"):
                self.widgets[content["comm_id"]].update(content["data"]["state"])
            elif kind in ("display_data", "execute_result"):
                shown.append(content["data"])
            assert kind not in ("error", "stream"), content
            if message["parent_header"].get("msg_id") == parent and content.get("execution_state") == "idle":
                return shown
        raise TimeoutError(parent)

    def children(self, widget: str) -> list[str]:
        return [child.removeprefix("IPY_MODEL_") for child in self.widgets[widget]["children"]]


@pytest.fixture(scope="module", params=PYTHONS)
def front_end(request, tmp_path_factory):
    assert PYTHONS[request.param].exists(), "no .venv-colab; run make setup-colab"
    front_end = FrontEnd(PYTHONS[request.param], tmp_path_factory.mktemp("kernel"))
    yield front_end
    front_end.close()


def show(front_end: FrontEnd, module: str, call: str) -> list[str]:
    """Run a page's cell and return the widgets inside the one that it shows."""
    (bundle,) = front_end.execute(f"from attnlab.labs.{module} import *\n{call}")
    assert "text/html" not in bundle
    return front_end.children(bundle["application/vnd.jupyter.widget-view+json"]["model_id"])


def test_the_kernel_has_the_wanted_ipywidgets(front_end, request):
    (bundle,) = front_end.execute("import ipywidgets; ipywidgets.__version__")
    assert bundle["text/plain"].strip("'").startswith(request.node.callspec.params["front_end"])


@pytest.mark.parametrize("make", LABS, ids=lambda make: make.__name__)
def test_moving_a_control_calls_draw_and_changes_the_picture(front_end, make):
    lab = make()
    stage, *controls, says = show(front_end, make.__module__.rpartition(".")[2], f"{make.__name__}()")
    values = {control.name: control.start for control in lab.controls}
    for control, widget in zip(lab.controls, controls, strict=True):
        before = front_end.widgets[stage]["value"], front_end.widgets[says]["value"]
        assert front_end.widgets[widget]["description"] == control.label
        if "index" in front_end.widgets[widget]:
            index = (control.values.index(control.start) + 1) % len(control.values)
            values[control.name] = control.values[index]
            front_end.move(widget, index=index)
        else:
            values[control.name] = "9081726354"
            front_end.move(widget, value="9081726354")
        frame = lab.frame(**values)
        after = front_end.widgets[stage]["value"], front_end.widgets[says]["value"]
        assert after != before
        assert frame.says.replace(">", "&gt;") == after[1]
        if "<image" not in frame.svg:
            assert_same_picture(frame.svg, after[0][after[0].index("<svg") : after[0].rindex("</svg>") + 6])


def test_the_heads_of_a_model_just_trained(front_end):
    maps = "{'甲': torch.eye(5), '乙': torch.full((5, 5), 0.2)}"
    stage, head, query, says = show(front_end, "heads", f"import torch; heads_lab({maps}, list('abcde'))")
    assert "甲，查詢在位置 2：看的是位置 2 的 c（1.00）" in front_end.widgets[says]["value"]
    front_end.move(head, index=1)
    front_end.move(query, index=4)
    assert "乙，查詢在位置 4" in front_end.widgets[says]["value"] and "<image" in front_end.widgets[stage]["value"]


def test_the_button_trains_and_moves_the_bar(front_end):
    heads, rate, steps, row, stage, says = show(front_end, "retrain", "Retrain()")
    for widget, index in ((heads, 1), (rate, 3), (steps, 0)):  # 2 heads, 0.01, 50 steps
        front_end.move(widget, index=index)
    button, bar = front_end.children(row)
    front_end.send(button, {"method": "custom", "content": {"event": "click"}})
    assert front_end.widgets[bar]["value"] == front_end.widgets[bar]["max"] == 50
    assert front_end.widgets[stage]["value"].count("<image") == 2
    assert "整串全對" in front_end.widgets[says]["value"]

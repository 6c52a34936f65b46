"""Train the reverse task with settings of one's own: needs a kernel, and says so where there is none."""

import html
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.lab import is_static, view
from attnlab.labs.svg import heat, picture, text
from attnlab.reversal import Marks, ReversalTransformer, anti_diagonal, evaluate, held_out, train

HEADS = (1, 2, 4, 8)
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03)
STEPS = (50, 100, 150, 300, 600, 1000, 1500)
EVERY = 25  # steps between two moves of the bar


class Result(NamedTuple):
    """What came out of one training."""

    marks: Marks
    maps: Tensor  # (h, 10, 10), means over the test sequences


def retrain(heads: int, rate: float, steps: int, report=None) -> Result:
    """Train one model; report(step, marks) is called every EVERY steps."""
    torch.manual_seed(0)
    model = ReversalTransformer(num_heads=heads)
    train(model, steps=steps, learning_rate=rate, seed=0, evaluate_every=EVERY, report=report)
    x, y = held_out()
    with torch.no_grad():
        weights = model.attend(x)[1]
    return Result(evaluate(model, x, y), weights.mean(0))


class Retrain:
    """Heads, learning rate, steps, a button and a bar; the maps of the heads when it is done."""

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        if is_static():
            return {"text/html": self.to_html(), "text/plain": repr(self)}
        return view(self.to_widget()) | {"text/plain": repr(self)}

    def __repr__(self) -> str:
        return "[訓練台：選頭數、學習率與步數，需要 Python 核心]"

    def to_html(self) -> str:
        return (
            '<div class="lab-needs-kernel"><p>這一格是<strong>訓練台</strong>：'
            "選頭數、學習率和步數，按下按鈕就重新訓練。"
            "真的訓練需要 Python，網頁上沒有。請按頁首的按鈕在 Colab 打開這一頁，或在自己的電腦上執行，"
            "這裡就會出現控制項與進度條。</p></div>"
        )

    def to_widget(self):
        """As ipywidgets (7 and 8)."""
        import ipywidgets

        style = {"description_width": "initial"}
        heads = ipywidgets.Dropdown(options=HEADS, value=1, description="頭數", style=style)
        rate = ipywidgets.SelectionSlider(options=RATES, value=0.003, description="學習率", style=style)
        steps = ipywidgets.SelectionSlider(options=STEPS, value=300, description="步數", style=style)
        button = ipywidgets.Button(description="開始訓練", button_style="primary")
        bar, says = ipywidgets.IntProgress(value=0, max=1), ipywidgets.HTML("按「開始訓練」。")
        stage = ipywidgets.HTML()

        def start(_):
            button.disabled = True
            bar.max, bar.value = steps.value, 0

            def report(step: int, marks: Marks) -> None:
                bar.value = step
                says.value = f"第 {step} 步：每個數字的正確率 {100 * marks.token:.1f} %"

            try:
                result = retrain(heads.value, rate.value, steps.value, report)
                stage.value, says.value = draw(result), html.escape(describe(result))
            finally:
                button.disabled = False

        button.on_click(start)
        return ipywidgets.VBox([heads, rate, steps, ipywidgets.HBox([button, bar]), stage, says])


def draw(result: Result) -> str:
    """The maps of the heads, at most four in a row."""
    columns = min(4, len(result.maps))
    side = 330 / columns - 6
    parts = []
    for i, weights in enumerate(result.maps):
        x, y = (side + 6) * (i % columns), (side + 26) * (i // columns)
        parts += [text(x, y + 10, f"頭 {i + 1}"), heat(weights, x, y + 20, side, side)]
    rows = -(-len(result.maps) // columns)
    return picture((side + 26) * rows, *parts)


def describe(result: Result) -> str:
    mirrored = "、".join(f"{w:.2f}" for w in anti_diagonal(result.maps.unsqueeze(0))[0])
    return (
        f"每個數字的正確率 {100 * result.marks.token:.1f} %，整串全對 {100 * result.marks.sequence:.1f} %；"
        f"反對角線的平均權重：{mirrored}。"
    )

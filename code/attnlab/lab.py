"""Interactive figures: one description, a page without a kernel, and live controls with one.

A ``Lab`` has a kind, controls, and ``draw(**values)``, which turns the values of the controls into a ``Frame``: a
picture and a sentence. While the book is built (ATTNLAB_STATIC is set) it becomes HTML with native controls and
the first frame already drawn, for ``_static/lab.js``; no widget is made. With a kernel the same controls are
ipywidgets, and every move calls the same ``draw``.

The kind "frames" holds every frame in the page. Any other kind computes its frames in the reader's browser, by the
function of that name in ``_static/lab-<kind>.js``, from the ``data`` given here.
"""

import html
import inspect
import itertools
import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

KINDS = ("frames", "query", "clocks", "reverse")
MOST_FRAMES = 120  # beyond that a page grows too heavy: compute in the browser instead


@dataclass(frozen=True)
class Frame:
    """What a figure shows for one setting of its controls.

    Args:
        svg: one <svg> element, or several.
        says: the same in a sentence; stands below the picture and is read aloud when it changes.
    """

    svg: str
    says: str


@dataclass(frozen=True)
class Slider:
    """A control that goes through a list of values.

    Args:
        name: the keyword of ``draw``.
        label: shown beside it.
        values: numbers or strings, in order.
        start: the value shown first.
        play: offers a button that goes through the values by itself.
    """

    name: str
    label: str
    values: tuple
    start: float | str
    play: bool = False


@dataclass(frozen=True)
class Choice:
    """A control that picks one of a few named values; arguments as for ``Slider``."""

    name: str
    label: str
    values: tuple
    start: float | str


@dataclass(frozen=True)
class Text:
    """A control to type into; ``draw`` must take whatever is typed.

    Args:
        numeric: telephones offer their number pad.
    """

    name: str
    label: str
    start: str
    numeric: bool = False

    @property
    def values(self) -> tuple:
        return (self.start,)


Control = Slider | Choice | Text


class Lab:
    """An interactive figure of a page; the last expression of a cell.

    Args:
        kind: one of ``KINDS``.
        name: unique on the page; lower-case ASCII, names the controls and appears in messages.
        controls: at least one.
        draw: draw(**values) -> Frame, with a keyword for each control.
        alt: what the figure is, for those who cannot see it.
        data: JSON values for the browser's function; not for "frames".

    Raises:
        ValueError: naming the figure: an unknown kind, no control, a control without values or that starts outside
            them, a keyword that draw lacks, too many frames, frames of unequal size, a draw that raises or returns
            no Frame.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        controls: list[Control],
        draw: Callable[..., Frame],
        *,
        alt: str,
        data: dict | None = None,
    ):
        self.kind, self.name, self.controls, self._draw, self.alt = kind, name, controls, draw, alt
        self._check()
        self.first = self.frame(**{control.name: control.start for control in controls})
        self.data = data
        if is_static():
            self.to_html()  # here and not when it is shown: IPython would swallow what it raises

    def frame(self, **values) -> Frame:
        """One frame; a fault of ``draw`` is raised as a ValueError that names the figure and the values."""
        try:
            frame = self._draw(**values)
        except Exception as error:
            raise self._fault(f"draw raised {type(error).__name__} for {values}: {error}") from error
        if not isinstance(frame, Frame):
            raise self._fault(f"draw must return a Frame, got {type(frame).__name__} for {values}")
        return frame

    def _fault(self, reason: str) -> ValueError:
        return ValueError(f"figure {self.name!r}: {reason}")

    def _check(self) -> None:
        if not re.fullmatch("[a-z][a-z0-9-]*", self.name):
            raise self._fault("wanted a name of a-z, 0-9 and hyphens")
        if self.kind not in KINDS:
            raise self._fault(f"wanted one of the kinds {', '.join(KINDS)}, got {self.kind!r}")
        if not self.controls:
            raise self._fault("wanted at least one control, got none")
        if not self.alt.strip():
            raise self._fault("wanted a description (alt), got an empty one")
        names = [control.name for control in self.controls]
        if len(set(names)) < len(names):
            raise self._fault(f"wanted a name of its own for each control, got {', '.join(names)}")
        for control in self.controls:
            self._check_control(control)
        if self.kind == "frames":
            if any(isinstance(control, Text) for control in self.controls):
                raise self._fault("kind 'frames' cannot have a text control: its frames are all made beforehand")
            count = math.prod(len(control.values) for control in self.controls)
            if count > MOST_FRAMES:
                raise self._fault(f"wanted at most {MOST_FRAMES} frames, got {count}")

    def _check_control(self, control: Control) -> None:
        keywords = inspect.signature(self._draw).parameters
        if not control.values:
            raise self._fault(f"control {control.name!r} has no values")
        if len(set(control.values)) < len(control.values):
            raise self._fault(f"control {control.name!r} has a value twice: {control.values}")
        if control.start not in control.values:
            raise self._fault(
                f"control {control.name!r} starts at {control.start!r}, which is not one of its values {control.values}"
            )
        if control.name not in keywords:
            raise self._fault(f"control {control.name!r}, but draw takes {', '.join(keywords) or 'nothing'}")

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        if is_static():
            return {"text/html": self.to_html(), "text/plain": repr(self)}
        return view(self.to_widget()) | {"text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"[互動圖：{self.alt}]"

    def to_html(self) -> str:
        """The figure for a page without a kernel."""
        controls = [{"name": control.name, "values": list(control.values)} for control in self.controls]
        data = self._all_frames if self.kind == "frames" else self.data or {}
        text = json.dumps({"controls": controls, **data}, ensure_ascii=False, separators=(",", ":"))
        text = text.replace("</", "<\\/")  # "</" would end the script element early
        # Parts of the picture that take the focus must not stand inside an image.
        role = "group" if "tabindex" in self.first.svg else "img"
        return (
            f'<figure class="lab" data-kind="{self.kind}" id="lab-{self.name}">'
            f'<div class="figure lab-stage" role="{role}" aria-label="{html.escape(self.alt)}">{self.first.svg}</div>'
            f'<form class="lab-controls">{"".join(self._control_html(control) for control in self.controls)}</form>'
            f'<p class="lab-says" role="status">{html.escape(self.first.says)}</p>'
            f'<script type="application/json">{text}</script>'
            "</figure>"
        )

    @cached_property
    def _all_frames(self) -> dict:
        """Every frame, in the order in which the last control moves fastest.

        Lines that occur in several frames are written once: a frame is a list of places in "lines".
        """
        names = [control.name for control in self.controls]
        frames = [
            self.frame(**dict(zip(names, values, strict=True)))
            for values in itertools.product(*(control.values for control in self.controls))
        ]
        sizes = {_view_boxes(frame.svg) for frame in frames}
        if len(sizes) > 1:
            raise self._fault(f"frames of unequal size, which would make the page jump: {sorted(sizes)}")
        place: dict[str, int] = {}
        packed = [
            {"svg": [place.setdefault(line, len(place)) for line in frame.svg.split("\n")], "says": frame.says}
            for frame in frames
        ]
        return {"lines": list(place), "frames": packed}

    def _control_html(self, control: Control) -> str:
        ident = html.escape(f"lab-{self.name}-{control.name}")
        label = f'<label for="{ident}">{html.escape(control.label)}</label>'
        common = f'id="{ident}" name="{html.escape(control.name)}" autocomplete="off"'
        if isinstance(control, Text):
            mode = ' inputmode="numeric"' if control.numeric else ""
            field = f'<input type="text" {common} value="{html.escape(control.start)}"{mode} spellcheck="false">'
        elif isinstance(control, Choice):
            start = control.values.index(control.start)
            options = "".join(
                f'<option value="{i}"{" selected" if i == start else ""}>{html.escape(shown(value))}</option>'
                for i, value in enumerate(control.values)
            )
            field = f"<select {common}>{options}</select>"
        else:
            first, last = control.values.index(control.start), len(control.values) - 1
            now = html.escape(shown(control.start))
            play = '<button type="button" class="lab-play">播放</button>' if control.play else ""
            field = (
                f'<input type="range" {common} min="0" max="{last}" step="1" value="{first}" aria-valuetext="{now}">'
                f'<output for="{ident}">{now}</output>{play}'
            )
        return f'<div class="lab-control">{label}{field}</div>'

    def to_widget(self):
        """The figure as ipywidgets (7 and 8): the picture, the controls, the sentence."""
        import ipywidgets

        controls = {control.name: _control_widget(ipywidgets, control) for control in self.controls}
        stage, says = ipywidgets.HTML(), ipywidgets.HTML()

        def redraw(_=None):
            frame = self.frame(**{name: widget.value for name, widget in controls.items()})
            stage.value = f'<div style="display:flex;flex-wrap:wrap;gap:8px">{frame.svg}</div>'
            says.value = html.escape(frame.says)

        for widget in controls.values():
            widget.observe(redraw, names="value")
        redraw()
        return ipywidgets.VBox([stage, *controls.values(), says])


def is_static() -> bool:
    """Whether a page is made that no kernel stands behind."""
    return bool(os.environ.get("ATTNLAB_STATIC"))


def view(widget) -> dict:
    """The MIME bundle that shows a widget, with ipywidgets 7 as with 8."""
    return {
        "application/vnd.jupyter.widget-view+json": {
            "model_id": widget.model_id,
            "version_major": 2,
            "version_minor": 0,
        }
    }


def shown(value: float | str) -> str:
    """A control's value as the browser writes it: 1.0 is 1."""
    return value if isinstance(value, str) else f"{value:g}"


def _view_boxes(svg: str) -> tuple[str, ...]:
    return tuple(part.split('"', 1)[0] for part in svg.split('viewBox="')[1:])


def _control_widget(ipywidgets, control: Control):
    style = {"description_width": "initial"}
    if isinstance(control, Text):
        return ipywidgets.Text(value=control.start, description=control.label, style=style)
    options = [(shown(value), value) for value in control.values]
    if isinstance(control, Choice):
        return ipywidgets.Dropdown(options=options, value=control.start, description=control.label, style=style)
    return ipywidgets.SelectionSlider(
        options=options,
        value=control.start,
        description=control.label,
        style=style,
        layout={"width": "95%", "max_width": "540px"},
    )

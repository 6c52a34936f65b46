// Interactive figures without a kernel; the other half of code/attnlab/lab.py. A classic script with no request of
// its own, so that it also works from a folder (file://).
//
// A kind is a function of the figure's data that returns { draw(values) -> {svg, says}, drag(x, y) -> values }:
// draw gets the value of each control by name and writes the same SVG as the figure's draw in Python. drag is
// optional: it gets a point of the picture, in the picture's own units, when an element with data-drag is dragged.
// An element with data-set="query=3" sets that control when it is pointed at, touched or tabbed to.
"use strict";

// The twin of code/attnlab/labs/svg.py.
globalThis.labSvg = {
  WIDTH: 340,
  BLUE: "var(--figure-blue, #0072b2)",
  ORANGE: "var(--figure-orange, #c75000)",
  GREEN: "var(--figure-green, #007d5b)",
  GREY: "var(--figure-grey, #767676)",
  picture(height, ...parts) {
    const size = "flex:0 1 540px;width:540px;max-width:100%;height:auto;font-family:sans-serif";
    const box = `0 0 ${this.WIDTH} ${this.number(height)}`;
    return [`<svg viewBox="${box}" style="${size}" fill="currentColor">`, ...parts, "</svg>"].join("\n");
  },
  tag(name, attributes, content = "") {
    const written = Object.entries(attributes).map(([key, value]) => {
      const text = typeof value === "number" ? this.number(value) : this.escape(value).replaceAll('"', "&quot;");
      return ` ${key}="${text}"`;
    });
    return `<${name}${written.join("")}>${content}</${name}>`;
  },
  text(x, y, content, { size = 12, anchor = "start", fill = "currentColor" } = {}) {
    const where = { x, y, "font-size": size, "text-anchor": anchor, "dominant-baseline": "central" };
    return this.tag("text", { ...where, fill }, this.escape(content));
  },
  line(x1, y1, x2, y2, { stroke = "currentColor", width = 1 } = {}) {
    return this.tag("line", { x1, y1, x2, y2, stroke, "stroke-width": width });
  },
  rect(x, y, width, height, { fill = "none", stroke = "none", ...more } = {}) {
    return this.tag("rect", { x, y, width, height, fill, stroke, ...more });
  },
  circle(cx, cy, r, { fill = "none", stroke = "none", ...more } = {}) {
    return this.tag("circle", { cx, cy, r, fill, stroke, ...more });
  },
  number: (value) => String(Math.round(value * 100) / 100 || 0), // || 0: no minus before zero
  escape: (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
};

globalThis.labKinds ??= {};

// Every frame is in the page, as places in a list of lines; the last control moves fastest.
labKinds.frames = (data) => ({
  draw(values) {
    const place = (index, { name, values: all }) => index * all.length + all.indexOf(values[name]);
    const { svg, says } = data.frames[data.controls.reduce(place, 0)];
    return { svg: svg.map((line) => data.lines[line]).join("\n"), says };
  },
});

(() => {
  if (typeof document === "undefined") return; // a test that only wants the kinds

  const PLAY_EVERY = 700; // ms

  function start(figure) {
    const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const kind = labKinds[figure.dataset.kind](data);
    const stage = figure.querySelector(".lab-stage");
    const says = figure.querySelector(".lab-says");
    const form = figure.querySelector("form");
    const inputs = Object.fromEntries(data.controls.map(({ name }) => [name, form.elements.namedItem(name)]));

    const value = ({ name, values }) =>
      inputs[name].type === "text" ? inputs[name].value : values[Number(inputs[name].value)];

    function draw() {
      const values = Object.fromEntries(data.controls.map((control) => [control.name, value(control)]));
      const frame = kind.draw(values);
      const focused = stage.contains(document.activeElement) && document.activeElement.dataset.set;
      stage.innerHTML = frame.svg;
      if (focused) stage.querySelector(`[data-set="${focused}"]`)?.focus();
      if (says.textContent !== frame.says) says.textContent = frame.says;
      for (const { name } of data.controls) {
        if (inputs[name].type !== "range") continue;
        inputs[name].nextElementSibling.value = values[name];
        inputs[name].setAttribute("aria-valuetext", values[name]);
      }
    }

    // Set controls to the values nearest to those wanted.
    function set(wanted) {
      let moved = false;
      for (const { name, values } of data.controls) {
        if (!(name in wanted)) continue;
        const distance = (v) => Math.abs(v - wanted[name]);
        const best = values.reduce((a, v, i) => (distance(v) < distance(values[a]) ? i : a), 0);
        moved ||= inputs[name].value !== String(best);
        inputs[name].value = best;
      }
      if (moved) draw();
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", draw);

    const point = (event) => {
      const [name, wanted] = event.target.closest?.("[data-set]")?.dataset.set.split("=") ?? [];
      if (name) set({ [name]: Number(wanted) });
    };
    for (const happening of ["click", "focusin"]) stage.addEventListener(happening, point);
    // A new picture under a mouse that rests is no pointing: it must not undo what the keyboard did.
    let last = "";
    stage.addEventListener("pointermove", (event) => {
      const here = `${event.clientX} ${event.clientY}`;
      if (here !== last) point(event);
      last = here;
    });

    if (kind.drag) {
      const drag = (event) => {
        const toPicture = stage.querySelector("svg").getScreenCTM().inverse();
        const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(toPicture);
        set(kind.drag(x, y));
      };
      // The stage holds the pointer: the element under it is drawn anew at every move.
      stage.addEventListener("pointerdown", (event) => {
        if (!event.target.closest?.("[data-drag]")) return;
        event.preventDefault(); // no text is marked
        stage.setPointerCapture(event.pointerId);
        drag(event);
      });
      stage.addEventListener("pointermove", (event) => stage.hasPointerCapture(event.pointerId) && drag(event));
    }

    for (const button of form.querySelectorAll(".lab-play")) {
      play(button, button.parentElement.querySelector("input"), draw, says);
    }
  }

  // Nothing moves until the reader asks for it, and it stops when the reader takes hold of the slider.
  function play(button, slider, draw, says) {
    let timer = null;
    const stop = () => {
      clearInterval(timer);
      timer = null;
      button.textContent = "播放";
      says.setAttribute("aria-live", "polite");
    };
    const step = () => {
      slider.value = slider.value === slider.max ? slider.min : Number(slider.value) + 1;
      draw();
    };
    slider.addEventListener("input", () => timer && stop());
    button.addEventListener("click", () => {
      if (timer) return stop();
      timer = setInterval(step, PLAY_EVERY);
      button.textContent = "暫停";
      says.setAttribute("aria-live", "off"); // a film is not read aloud
    });
  }

  const startAll = () => document.querySelectorAll("figure.lab").forEach(start);
  // The kinds of the other scripts must be there, whatever the order of the scripts.
  if (document.readyState === "complete") startAll();
  else document.addEventListener("DOMContentLoaded", startAll);
})();

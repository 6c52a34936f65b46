// Wide formulas scroll inside their box; give the keyboard a way in, only where there is something to scroll.
// A few formulas at a time, when the browser has nothing else to do: measuring all at once would hold up the page.
"use strict";
(() => {
  const PORTION = 30;
  const COLUMN = "p, li, td, th, dt, dd, h1, h2, h3, h4, div";
  const later = globalThis.requestIdleCallback ?? ((task) => setTimeout(task, 50));
  let turn = 0;

  function measure(formulas) {
    // All reading before all writing, or each formula would cost a layout of the page.
    formulas.forEach((f) => f.classList.remove("wide"));
    const inline = formulas.filter((f) => f.tagName === "SPAN");
    const wide = inline.map((f) => f.offsetWidth > f.closest(COLUMN).clientWidth);
    inline.forEach((f, i) => f.classList.toggle("wide", wide[i]));
    const boxes = formulas.filter((f) => !f.matches("span.keep"));
    const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0);
    boxes.forEach((box, i) => (scrolls[i] ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex")));
  }

  function look() {
    const mine = ++turn; // a newer look ends an older one
    const formulas = [...document.querySelectorAll("div.math > .formula, span.math, span.keep")];
    const next = () => {
      if (mine !== turn || !formulas.length) return;
      measure(formulas.splice(0, PORTION));
      later(next, { timeout: 1000 });
    };
    later(next, { timeout: 1000 });
  }

  look();
  let width = innerWidth;
  addEventListener("resize", () => width !== innerWidth && ((width = innerWidth), look()));
  document.addEventListener("toggle", look, true); // an answer is unfolded
  document.fonts?.ready.then(look);
})();

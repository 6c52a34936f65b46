// Wide formulas scroll inside their box; give the keyboard a way in, only where there is something to scroll.
"use strict";
(() => {
  const LONG = 40; // letters, the LaTeX source included; a shorter formula in a line fits any screen
  const COLUMN = "p, li, td, th, dt, dd, h1, h2, h3, h4, div";
  const boxes = [...document.querySelectorAll("div.math > .formula")];
  const inline = [...document.querySelectorAll("span.math, span.keep")].filter((f) => f.textContent.length > LONG);

  function look() {
    // All reading before all writing, or each formula would cost a layout of the page.
    inline.forEach((f) => f.classList.contains("wide") && f.classList.remove("wide"));
    const wide = inline.map((f) => f.offsetWidth > f.closest(COLUMN).clientWidth);
    const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0);
    inline.forEach((f, i) => {
      if (!wide[i]) return f.removeAttribute("tabindex");
      f.classList.add("wide");
      if (f.matches(".math")) f.setAttribute("tabindex", "0");
    });
    boxes.forEach((box, i) => (scrolls[i] ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex")));
  }

  // After the page was laid out and painted, when measuring costs nothing.
  const soon = () => requestAnimationFrame(() => setTimeout(look));
  soon();
  let width = innerWidth;
  addEventListener("resize", () => width !== innerWidth && ((width = innerWidth), soon()));
  document.addEventListener("toggle", soon, true); // an answer is unfolded
  document.fonts?.ready.then(soon);
})();

// Laying out the page in portions, and making what is wider than its place scroll there, within the keyboard's reach.
//
// A long page has thousands of formulas; laying all of them out at once would keep a telephone from answering for a
// second. On devices with a touch screen, site.css therefore leaves out what is not on the screen (content-visibility,
// class in-portions), and this script has the rest laid out, a little at a time. "laid-out" marks the end of it.
"use strict";
(() => {
  const PORTION = 8; // milliseconds; a telephone takes several times as long
  const LONG = 40; // letters, the LaTeX source included; a shorter formula in a line fits any screen
  const COLUMN = "p, li, td, th, dt, dd, h1, h2, h3, h4, div";
  const inPortions = document.documentElement.classList.contains("in-portions");
  const all = (selector) => [...document.querySelectorAll(selector)];
  const inline = all("span.math, span.keep").filter((f) => f.textContent.length > LONG);
  const boxes = all("div.math > .formula, article :is(pre, .output, .pst-scrollable-table-container)");

  // Displayed formulas, code, output and tables have boxes of their own; a formula in a line becomes one.
  function fit() {
    // Asking for a size inside what is folded would make the browser lay it out.
    const measured = (e) => !e.closest("details:not([open])");
    const formulas = inline.filter(measured);
    const scrollers = boxes.filter(measured);
    // All reading before all writing, or each would cost a layout.
    formulas.forEach((f) => f.classList.contains("wide") && f.classList.remove("wide"));
    const wide = formulas.map((f) => f.offsetWidth > f.closest(COLUMN).clientWidth);
    const scrolls = scrollers.map((box) => box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0);
    formulas.forEach((f, i) => wide[i] && f.classList.add("wide"));
    formulas.forEach((f, i) => f.matches(".math") && reach(f, wide[i]));
    scrollers.forEach((box, i) => reach(box, scrolls[i]));
  }

  function reach(element, scrolls) {
    if (scrolls) element.setAttribute("tabindex", "0");
    else element.removeAttribute("tabindex");
  }

  const waiting = inPortions ? all("article section section > *") : [];
  function layOut(milliseconds) {
    const end = performance.now() + milliseconds;
    while (waiting.length && performance.now() < end) {
      // Several small blocks together, as each layout has costs of its own.
      let block;
      let elements = 0;
      while (waiting.length && elements < 100) {
        block = waiting.shift();
        block.style.contentVisibility = "visible";
        elements += block.getElementsByTagName("*").length;
      }
      block.offsetHeight; // has them laid out
    }
    if (waiting.length) return setTimeout(layOut, 0, PORTION);
    fit();
    performance.mark("laid-out");
  }
  requestAnimationFrame(() => setTimeout(layOut, 0, PORTION)); // after the first picture
  // A link within the page needs to know where everything is, and so does the End key. (A scroll that a busy browser
  // has only begun would be lost in this.)
  addEventListener("click", () => waiting.length && layOut(Infinity), true);
  addEventListener("keydown", ({ key }) => {
    if (!waiting.length) return;
    layOut(Infinity);
    if (key === "End") scrollTo(0, document.documentElement.scrollHeight);
  });

  const soon = () => requestAnimationFrame(() => setTimeout(() => waiting.length || fit()));
  let width = innerWidth;
  addEventListener("resize", () => width !== innerWidth && ((width = innerWidth), soon()));
  document.addEventListener("toggle", soon, true); // something is unfolded
  document.fonts?.addEventListener("loadingdone", soon); // asking for fonts.ready would be a layout of its own
})();

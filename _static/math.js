// Wide formulas scroll inside their box; give the keyboard a way in, only where there is something to scroll.
(function () {
  "use strict";
  function look() {
    document.querySelectorAll("span.math, span.keep").forEach(function (formula) {
      formula.classList.remove("wide");
      var column = formula.closest("p, li, td, th, dt, dd, h1, h2, h3, h4, div");
      formula.classList.toggle("wide", formula.offsetWidth > column.clientWidth);
    });
    document.querySelectorAll("div.math > .formula, span.math").forEach(function (box) {
      var scrolls = box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0;
      if (scrolls) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
    });
  }
  function start() {
    look();
    window.addEventListener("resize", look);
    document.addEventListener("toggle", look, true); // an answer is unfolded
    if (document.fonts) document.fonts.ready.then(look);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

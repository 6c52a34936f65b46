// Wide formulas scroll inside their box; give the keyboard a way in, only where there is something to scroll.
(function () {
  "use strict";
  function look() {
    document.querySelectorAll("span.math").forEach(function (formula) {
      formula.classList.remove("wide");
      formula.classList.toggle("wide", formula.offsetWidth > formula.parentElement.clientWidth);
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
    if (document.fonts) document.fonts.ready.then(look);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

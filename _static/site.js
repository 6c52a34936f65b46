// What the pages need of a script: theme, menus on a telephone, search by Ctrl+K, copying code, marks after a search.
"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, where = document) => [...where.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);

  // Light, dark, or as the system has it.
  const MODES = { auto: "跟隨系統", light: "淺色", dark: "深色" };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const themeButton = one(".theme-button");
  function setMode(mode) {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "dark" || (mode === "auto" && system.matches) ? "dark" : "light";
    themeButton.title = `深淺色：${MODES[mode]}`;
    themeButton.setAttribute("aria-label", themeButton.title);
    try {
      localStorage.setItem("mode", mode);
    } catch {} // a browser may forbid it; the choice then lasts for this page
  }
  themeButton.addEventListener("click", () => {
    const order = system.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
    setMode(order[(order.indexOf(root.dataset.mode) + 1) % 3]);
  });
  system.addEventListener("change", () => setMode(root.dataset.mode));
  setMode(root.dataset.mode);

  // A part of the page beside the text becomes a dialog where there is no room for it.
  function drawer(button, part, dialog, wide) {
    if (!button || !part) return button?.remove();
    button.setAttribute("aria-haspopup", "dialog");
    button.addEventListener("click", () => {
      if (matchMedia(wide).matches) return part.toggleAttribute("hidden");
      dialog.append(...part.childNodes);
      dialog.className = part.className;
      dialog.showModal();
    });
    dialog.addEventListener("close", () => part.append(...dialog.childNodes));
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("a")) dialog.close();
    });
  }
  drawer(one(".menu-button"), one("#menu"), one("#menu-dialog"), "(min-width: 992px)");
  drawer(one(".contents-button"), one("#contents"), one("#contents-dialog"), "(min-width: 1200px)");

  const search = one("#search-dialog");
  function openSearch(event) {
    event.preventDefault();
    const here = one("article .book-search input");
    if (here) return here.focus();
    if (!search.open) search.showModal();
    search.querySelector("input").select();
  }
  all(".search-link, .search-button").forEach((link) => link.addEventListener("click", openSearch));
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k")
      openSearch(event);
    if (event.key === "Escape") closeMenus();
  });
  search.addEventListener("click", (event) => event.target === search && search.close());

  function closeMenus(but) {
    all("details.menu[open]").forEach((menu) => menu !== but && (menu.open = false));
  }
  addEventListener("click", (event) => closeMenus(event.target.closest("details.menu")));
  globalThis.toggleFullScreen = () =>
    document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen();

  // Which section is being read.
  const links = new Map(all("#contents a[href^='#']").map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
  const seen = new IntersectionObserver(
    (entries) => {
      const entry = entries.filter((e) => e.isIntersecting).pop();
      if (!entry) return;
      links.forEach((a) => a.removeAttribute("aria-current"));
      links.get(entry.target.parentElement.id)?.setAttribute("aria-current", "true");
    },
    { rootMargin: "-60px 0px -70% 0px" },
  );
  links.forEach((_, id) => {
    const heading = document.getElementById(id)?.querySelector("h1, h2, h3");
    if (heading) seen.observe(heading);
  });

  // Copying the code of a cell; the button comes when the cell does, or with the first Tab: it would jump over it.
  const withoutButton = new Set();
  function addCopyButton(pre) {
    if (!withoutButton.delete(pre)) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "複製";
    button.setAttribute("aria-label", "複製程式碼");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "已複製";
      } catch {
        button.textContent = "無法複製";
      }
      setTimeout(() => (button.textContent = "複製"), 2000);
    });
    pre.parentElement.append(button);
  }
  const coming = new IntersectionObserver(
    (entries) => {
      for (const entry of entries.filter((e) => e.isIntersecting)) {
        coming.unobserve(entry.target);
        addCopyButton(entry.target);
      }
    },
    { rootMargin: "300px" },
  );
  if (navigator.clipboard) all("article :not(.output) > div > .highlight > pre").forEach((pre) => {
    withoutButton.add(pre);
    coming.observe(pre);
  });
  addEventListener("keydown", (event) => event.key === "Tab" && withoutButton.forEach(addCopyButton));

  // Formulas are copied as LaTeX (as MathML where formatted text is pasted), and never in part.
  addEventListener("copy", (event) => {
    const range = getSelection().rangeCount && getSelection().getRangeAt(0).cloneRange();
    if (!range || range.collapsed) return;
    const formula = (node) => (node.closest ? node : node.parentElement).closest("math");
    const [first, last] = [formula(range.startContainer), formula(range.endContainer)];
    if (first) range.setStartBefore(first);
    if (last) range.setEndAfter(last);
    const copied = document.createElement("div");
    copied.append(range.cloneContents());
    if (!copied.querySelector("math")) return;
    copied.querySelectorAll(".headerlink").forEach((link) => link.remove());
    event.clipboardData.setData("text/html", copied.innerHTML);
    for (const math of copied.querySelectorAll("math")) {
      const latex = math.querySelector("annotation").textContent;
      math.replaceWith(math.getAttribute("display") === "block" ? `$$${latex}$$` : `$${latex}$`);
    }
    root.append(copied); // only what is on the page has lines
    event.clipboardData.setData("text/plain", copied.innerText);
    copied.remove();
    event.preventDefault();
  });

  // A link into something folded unfolds it.
  function unfold() {
    let target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const inside = target?.closest("details:not([open])");
    if (!inside) return;
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target.scrollIntoView();
  }
  unfold();
  addEventListener("hashchange", unfold);

  // Paper is white and cannot be unfolded.
  let folded = [];
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    folded = all("article details:not([open])");
    folded.forEach((e) => (e.open = true));
  });
  addEventListener("afterprint", () => {
    setMode(root.dataset.mode);
    folded.forEach((e) => (e.open = false));
  });

  // What the search page looks for and the page found marks: patterns for a query. Full-width letters count as half-width
  // ones and capitals as small ones; text never gets longer or shorter, so that places stay.
  const same = (c) => {
    const simple = c.normalize("NFKC").toLowerCase();
    return simple.length === c.length ? simple : c;
  };
  const plain = (text) => [...text].map(same).join("");
  const isLatin = (c) => /[a-z0-9_]/i.test(c);

  // Between Chinese and Latin letters a space may stand or not.
  const spaced = (text) =>
    [...text].map((c, i, every) => {
      if (c === " ") return isLatin(every[i - 1]) && isLatin(every[i + 1]) ? " " : " ?";
      const bound = i && isLatin(c) !== isLatin(every[i - 1]) ? " ?" : "";
      return bound + c.replace(/[.*+?^${}()|[\]\\]/, "\\$&");
    }).join("");

  // English matches from the beginning of a word, and its plural like its singular; a number matches as a whole.
  function pattern(term) {
    let text = spaced(term);
    if (/^[a-z]{2,}[^s]s$/.test(term)) text = `(?:${text}|${text.slice(0, -1)}(?![a-z0-9_]))`;
    if (isLatin(term[0])) text = `(?<![a-z0-9])${text}`;
    if (isLatin(term) && term.length === 1) text += "(?![a-z0-9])";
    else if (/[0-9]$/.test(term)) text += "(?![0-9])";
    return new RegExp(text, "g");
  }

  const places = (text, regex) => [...text.matchAll(regex)].map((match) => [match.index, match.index + match[0].length]);
  function patterns(query) {
    const words = plain(query).trim().replace(/\s+/g, " ");
    const parts = words.split(/[ ,、。]+/).filter(Boolean);
    const terms = (parts.length ? parts : [words]).map(pattern);
    return { terms, whole: terms.length > 1 ? pattern(words) : null };
  }
  // Where to mark: the whole query if it stands there, else its terms.
  function marks(text, { terms, whole }) {
    const together = whole ? places(text, whole) : [];
    return together.length ? together : terms.flatMap((term) => places(text, term));
  }
  globalThis.bookSearch = { plain, places, patterns, marks };

  // Coming from the search page: mark what was looked for, also across emphasis and links, but not across formulas.
  const address = new URL(location);
  const wanted = (address.searchParams.get("highlight") ?? "").trim();
  if (wanted) {
    address.searchParams.delete("highlight");
    history.replaceState({}, "", address);
    const walker = document.createTreeWalker(one("article"), NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest("math, svg, script, style, button") ? 2 : 1);
    const texts = [];
    let whole = "";
    for (let node; (node = walker.nextNode()); ) {
      if (node.nodeType === Node.TEXT_NODE) {
        texts.unshift([whole.length, node]);
        whole += plain(node.data);
      } else if (node.localName === "math" || !getComputedStyle(node).display.startsWith("inline")) whole += "\n";
    }
    let before = Infinity;
    const found = marks(whole, patterns(wanted))
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .filter(([start, end]) => end <= before && ((before = start), true));
    // From the last to the first, so that the places of those before stay.
    for (const [start, end] of found)
      for (const [at, node] of texts) {
        const [from, to] = [Math.max(start - at, 0), Math.min(end - at, node.length)];
        if (from >= to) continue;
        node.splitText(to);
        const mark = document.createElement("mark");
        mark.className = "highlighted";
        const piece = node.splitText(from);
        piece.replaceWith(mark);
        mark.append(piece);
      }
    const count = found.length;
    if (count) {
      const bar = one("#found-bar");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "取消標示";
      button.addEventListener("click", () => {
        all("article mark.highlighted").forEach((mark) => mark.replaceWith(...mark.childNodes));
        bar.hidden = true;
      });
      bar.append(`這一頁標出「${wanted}」${count} 處。`, button);
      bar.hidden = false;
      unfold();
    }
  }
})();

// The search page: looks through words.js (made by _ext/zhsearch.py) for sections that hold every term of the query.
"use strict";
(() => {
  const MOST = 40;
  const AROUND = 44; // characters of text on each side of what was found
  const { plain, places, patterns, marks } = bookSearch; // of site.js

  function find(query) {
    const { whole, terms } = patterns(query);
    const look = (page, [anchor, title, text]) => {
      const inTitle = terms.map((term) => places(plain(title), term).length);
      const inText = terms.map((term) => places(plain(text), term).length);
      const together = whole ? places(plain(`${title}\n${text}`), whole).length : 0;
      const sum = (counts) => counts.reduce((a, b) => a + Math.min(b, 8), 0);
      return {
        page, anchor, title, text, terms, whole, together,
        has: terms.map((_, i) => inTitle[i] + inText[i] > 0),
        score: 30 * sum(inTitle) + 10 * Math.min(together, 3) + sum(inText),
      };
    };
    const all = bookPages.flatMap((page) => page.sections.map((section) => look(page, section)));
    let found = all.filter((hit) => hit.has.every(Boolean));
    if (!found.length && terms.length > 1) {
      // All terms on one page, in different sections of it.
      const pages = bookPages.filter((page) =>
        terms.every((_, i) => all.some((hit) => hit.page === page && hit.has[i])));
      found = all.filter((hit) => pages.includes(hit.page) && hit.has.some(Boolean));
    }
    return found.sort((a, b) => b.score - a.score);
  }

  // Text with these places marked.
  function marked(text, spans) {
    const fragment = document.createDocumentFragment();
    let at = 0;
    for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) {
      if (start < at) continue;
      const mark = document.createElement("mark");
      mark.className = "highlighted";
      mark.textContent = text.slice(start, end);
      fragment.append(text.slice(at, start), mark);
      at = end;
    }
    fragment.append(text.slice(at));
    return fragment;
  }

  // The piece of text around the first place of the whole phrase if it is there, else of the first term that is.
  function excerpt(hit) {
    const first = marks(plain(hit.text), hit)[0] ?? [0, 0];
    const lines = hit.text.replace(/\n/g, "　");
    const start = Math.max(0, first[0] - AROUND), end = Math.min(lines.length, first[1] + AROUND);
    const piece = lines.slice(start, end);
    const p = document.createElement("p");
    p.className = "context";
    p.append(start ? "…" : "", marked(piece, marks(plain(piece), hit)), end < lines.length ? "…" : "");
    return p;
  }

  function item(hit, query) {
    const li = document.createElement("li");
    const a = document.createElement("a");
    a.href = `${document.documentElement.dataset.content_root}${hit.page.url}?highlight=${encodeURIComponent(query)}#${hit.anchor}`;
    a.append(hit.page.title);
    if (hit.title !== hit.page.title) a.append(" › ", marked(hit.title, marks(plain(hit.title), hit)));
    li.append(a, excerpt(hit));
    return li;
  }

  // Terms of the glossary that the reader may have meant.
  function suggestions(query) {
    const terms = bookPages.flatMap((page) => page.terms).filter((term) => plain(term).includes(plain(query)));
    const words = [...new Set(terms.map((term) => term.replace(/ [a-z].*$/i, "")))]
      .filter((word) => plain(word) !== plain(query))
      .slice(0, 8);
    if (!words.length) return "";
    const p = document.createElement("p");
    p.className = "suggestions";
    p.append("詞彙表裡有這個字的詞：");
    words.forEach((word, i) => {
      const a = document.createElement("a");
      a.href = `?q=${encodeURIComponent(word)}`;
      a.textContent = word;
      p.append(i ? "、" : "", a);
    });
    return p;
  }

  function show(query) {
    const summary = document.querySelector(".search-summary");
    const results = document.getElementById("search-results");
    const found = find(query);
    const pages = new Set(found.map((hit) => hit.page)).size;
    const short = [...query].length === 1;
    if (!found.length)
      summary.textContent = `整本書裡找不到「${query}」。換一個說法、少打幾個字，或用空格把詞分開，再試一次。`;
    else {
      const parted = found[0].whole && !found.some((hit) => hit.together);
      summary.textContent = parted ? `整本書裡沒有連在一起的「${query}」。分開來找，這些詞` : `「${query}」`;
      summary.textContent += `出現在 ${pages} 頁、${found.length} 節。`;
      if (short) summary.textContent += "只有一個字，所以很多；多打一兩個字會更準。";
      if (found.length > MOST) summary.textContent += `下面列出最相關的 ${MOST} 節。`;
    }
    const ul = document.createElement("ul");
    ul.className = "search";
    ul.append(...found.slice(0, MOST).map((hit) => item(hit, query)));
    results.replaceChildren(short ? suggestions(query) : "", found.length ? ul : "");
    document.title = `${query} — ${document.title}`;
  }

  const query = (new URLSearchParams(location.search).get("q") ?? "").trim();
  const input = document.querySelector("article input[name=q]");
  input.value = query;
  if (query) show(query);
  else input.focus();
})();

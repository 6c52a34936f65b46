// The search page: looks through words.js (made by _ext/zhsearch.py) for sections that hold every term of the query.
"use strict";
(() => {
  const MOST = 40;
  const AROUND = 44; // characters of text on each side of what was found
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // Full-width letters like half-width ones, capitals like small ones; never longer or shorter, so that places stay.
  const same = (c) => {
    const simple = c.normalize("NFKC").toLowerCase();
    return simple.length === c.length ? simple : c;
  };
  const plain = (text) => [...text].map(same).join("");
  const isLatin = (c) => /[a-z0-9_]/i.test(c);

  // A pattern for one term. English matches from the beginning of a word, and its plural like its singular;
  // between Chinese and Latin letters a space may stand or not.
  function pattern(term) {
    let text = "";
    const stem = /^[a-z]{4,}$/.test(term) ? term.replace(/s$/, "") : term;
    [...stem].forEach((c, i, all) => {
      if (i && isLatin(c) !== isLatin(all[i - 1])) text += " ?";
      text += escaped(c);
    });
    if (isLatin(stem[0])) text = `(?<![a-z0-9])${text}`;
    if (isLatin(term) && term.length === 1) text += "(?![a-z0-9])";
    return new RegExp(text, "g");
  }

  const places = (text, regex) => [...text.matchAll(regex)].map((match) => [match.index, match.index + match[0].length]);

  function find(query) {
    const terms = plain(query).split(/[\s,，、。]+/).filter(Boolean).map(pattern);
    const whole = terms.length > 1 ? pattern(plain(query).trim().replace(/\s+/g, " ")) : null;
    const look = (page, [anchor, title, text]) => {
      const inTitle = terms.map((term) => places(plain(title), term).length);
      const inText = terms.map((term) => places(plain(text), term).length);
      const together = whole ? places(plain(text), whole).length : 0;
      const sum = (counts) => counts.reduce((a, b) => a + Math.min(b, 8), 0);
      return {
        page, anchor, title, text, terms, whole,
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

  // Text with the found places marked.
  function marked(text, regexes) {
    const spans = regexes.flatMap((regex) => places(plain(text), regex)).sort((a, b) => a[0] - b[0]);
    const fragment = document.createDocumentFragment();
    let at = 0;
    for (const [start, end] of spans) {
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

  // The piece of text around the first place: the whole phrase if it is there, else the first term.
  function excerpt(hit) {
    const regexes = [hit.whole, ...hit.terms].filter(Boolean);
    const first = regexes.map((regex) => places(plain(hit.text), regex)[0]).find(Boolean) ?? [0, 0];
    const lines = hit.text.replace(/\n/g, "　");
    const start = Math.max(0, first[0] - AROUND), end = Math.min(lines.length, first[1] + AROUND);
    const p = document.createElement("p");
    p.className = "context";
    p.append(start ? "…" : "", marked(lines.slice(start, end), regexes), end < lines.length ? "…" : "");
    return p;
  }

  function item(hit, query) {
    const li = document.createElement("li");
    const a = document.createElement("a");
    a.href = `${document.documentElement.dataset.content_root}${hit.page.url}?highlight=${encodeURIComponent(query)}#${hit.anchor}`;
    a.append(hit.page.title);
    if (hit.title !== hit.page.title) a.append(" › ", marked(hit.title, hit.terms));
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
      summary.textContent = `「${query}」出現在 ${pages} 頁、${found.length} 節。`;
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

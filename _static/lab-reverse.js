// The twin of code/attnlab/labs/reverse.py: the trained Transformer, forward pass and drawing.
"use strict";

(globalThis.labKinds ??= {}).reverse = (data) => {
  const [LENGTH, CELL, LEFT, TOP] = [10, 22, 50, 40];
  const [ANSWER, HEIGHT] = [LEFT + CELL * LENGTH + 6, TOP + CELL * LENGTH + 8];

  // The parameters in the order of the model's state: 16-bit floats, in base64.
  function parameters() {
    const bytes = Uint8Array.from(atob(data.weights), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    let at = 0;
    return data.layout.map((shape) => {
      const size = shape.reduce((a, b) => a * b);
      return Float32Array.from({ length: size }, () => half(view.getUint16(2 * at++, true)));
    });
  }

  function half(bits) {
    const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
  }

  const [embedding, wq, bq, wk, bk, wv, bv, wo, bo, w1, b1, w2, b2, g1, s1, g2, s2, wr, br] = parameters();
  const WIDTH = 32;

  const linear = (x, weight, bias) =>
    Array.from(bias, (b, row) => x.reduce((sum, value, column) => sum + weight[row * x.length + column] * value, b));
  const plus = (a, b) => a.map((value, c) => value + b[c]);
  const dot = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);

  function softmax(scores) {
    const most = Math.max(...scores);
    const raised = scores.map((score) => Math.exp(score - most));
    const total = raised.reduce((a, b) => a + b);
    return raised.map((e) => e / total);
  }

  function norm(x, gain, shift) {
    const mean = x.reduce((a, b) => a + b) / x.length;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    return x.map((value, c) => ((value - mean) / Math.sqrt(variance + 1e-5)) * gain[c] + shift[c]);
  }

  function position(p) {
    const angle = (c) => p / 10000 ** ((c - (c % 2)) / WIDTH);
    return Array.from({ length: WIDTH }, (_, c) => (c % 2 ? Math.cos(angle(c)) : Math.sin(angle(c))));
  }

  // Digits -> probabilities of each answer and attention weights, 10 × 10 each. Post-norm, one head.
  function forward(digits) {
    let x = digits.map((digit, p) => plus([...embedding.slice(WIDTH * digit, WIDTH * (digit + 1))], position(p)));
    const [queries, keys, values] = [[wq, bq], [wk, bk], [wv, bv]].map(([w, b]) => x.map((row) => linear(row, w, b)));
    const weights = queries.map((q) => softmax(keys.map((k) => dot(q, k) / Math.sqrt(WIDTH))));
    const heads = weights.map((row) => values[0].map((_, c) => row.reduce((sum, w, j) => sum + w * values[j][c], 0)));
    x = x.map((row, i) => norm(plus(row, linear(heads[i], wo, bo)), g1, s1));
    const think = (row) => linear(linear(row, w1, b1).map((value) => Math.max(value, 0)), w2, b2);
    x = x.map((row) => norm(plus(row, think(row)), g2, s2));
    return { shares: x.map((row) => softmax(linear(row, wr, br))), weights };
  }

  function complaint(digits) {
    if (!/^[0-9]*$/.test(digits)) return "只認得 0 到 9 的數字，其他的字請拿掉。";
    const missing = LENGTH - digits.length;
    if (missing > 0) return `還差 ${missing} 個數字：模型只學過長度 ${LENGTH}。`;
    if (missing < 0) return `多了 ${-missing} 個數字：模型只學過長度 ${LENGTH}。`;
    return "";
  }

  const largest = (values) => values.indexOf(Math.max(...values));
  const shade = (weight) => data.shades[Math.floor(weight * (data.shades.length - 1) + 0.5)];
  const percent = (share) => (share > 0.99 ? "> 99 %" : `${Math.floor(100 * share + 0.5)} %`);

  function draw({ digits, query }) {
    const { text, rect, tag, picture } = Object.fromEntries(
      ["text", "rect", "tag", "picture"].map((name) => [name, labSvg[name].bind(labSvg)]),
    );
    const { ORANGE } = labSvg;
    const narrow = digits.replace(/[０-９]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0xfee0));
    const cleaned = narrow.replace(/[ ,，、　]/g, "");
    const complains = complaint(cleaned);
    if (complains) {
      const words = text(170, HEIGHT / 2, complains, { anchor: "middle", fill: ORANGE });
      return { svg: picture(HEIGHT, words), says: complains };
    }
    const x = [...cleaned].map(Number);
    const { shares, weights } = forward(x);
    const answers = shares.map(largest);

    const parts = [text(LEFT - 8, 26, "輸入", { anchor: "end" }), text(ANSWER, 10, "輸出 信心")];
    x.forEach((digit, j) => parts.push(text(LEFT + CELL * (j + 0.5), 26, String(digit), { size: 15, anchor: "middle" })));
    answers.forEach((answer, i) => {
      const y = TOP + CELL * i;
      const [share, looked] = [percent(shares[i][answer]), largest(weights[i])];
      const on = weights[i][looked] > 0.6 ? data.onLight : data.onDark;
      const middle = y + CELL / 2;
      const row = [
        text(LEFT - 8, middle, `輸出 ${i}`, { anchor: "end" }),
        ...weights[i].map((weight, j) => rect(LEFT + CELL * j, y, CELL, CELL, { fill: shade(weight) })),
        text(LEFT + CELL * (looked + 0.5), middle, String(x[looked]), { anchor: "middle", fill: on }),
        text(ANSWER, middle, String(answer), { size: 15, fill: answer === x[LENGTH - 1 - i] ? "currentColor" : ORANGE }),
        text(ANSWER + 18, middle, share, { size: 11 }),
      ];
      if (i === query) row.push(rect(LEFT - 1, y, CELL * LENGTH + 2, CELL, { stroke: ORANGE, "stroke-width": 2.5 }));
      const label = `輸出 ${i}：${answer}，信心 ${share}，看得最多的是輸入 ${looked}`;
      const options = { "data-set": `query=${i}`, tabindex: "0", role: "img", "aria-label": label };
      parts.push(tag("g", options, row.join("")));
    });

    const wrong = answers.filter((answer, i) => answer !== x[LENGTH - 1 - i]).length;
    const looked = largest(weights[query]);
    const says =
      `輸出：${answers.join(" ")}（${wrong ? `錯 ${wrong} 個` : "全對"}）。` +
      `第 ${query} 個輸出是 ${answers[query]}，信心 ${percent(shares[query][answers[query]])}；` +
      `看得最多的是第 ${looked} 個輸入，權重 ${weights[query][looked].toFixed(2)}。`;
    return { svg: picture(HEIGHT, ...parts), says };
  }

  return { draw, forward };
};

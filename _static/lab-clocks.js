// The twin of code/attnlab/labs/clocks.py.
"use strict";

(globalThis.labKinds ??= {}).clocks = (data) => {
  const [COLUMNS, RADIUS, ROW, FIRST_ROW, COLUMN] = [3, 40, 128, 72, 340 / 3];
  const hand = (angle) => [Math.sin(angle), Math.cos(angle)];

  function draw({ p, k }) {
    const { BLUE, ORANGE, GREY } = labSvg;
    const parts = [];
    let difference = 0;
    data.frequencies.forEach((omega, i) => {
      const [x, y] = [((i % COLUMNS) + 0.5) * COLUMN, FIRST_ROW + ROW * Math.floor(i / COLUMNS)];
      const [here, there] = [hand(p * omega), hand((p + k) * omega)];
      const [sin, cos] = hand(k * omega);
      const turned = [cos * here[0] + sin * here[1], -sin * here[0] + cos * here[1]];
      difference = Math.max(difference, Math.abs(turned[0] - there[0]), Math.abs(turned[1] - there[1]));
      const degrees = (k * omega * 180) / Math.PI;
      const words = `第 ${i} 對，轉 ${labSvg.number(Math.round(degrees))}°`;
      parts.push(labSvg.text(x, y - RADIUS - 20, words, { anchor: "middle" }));
      parts.push(labSvg.circle(x, y, RADIUS, { stroke: GREY }));
      for (const [vector, stroke, width, length] of [[here, GREY, 3, 1], [there, BLUE, 7, 1], [turned, ORANGE, 2.5, 0.94]]) {
        const [sine, cosine] = vector.map((part) => length * RADIUS * part);
        parts.push(labSvg.line(x, y, x + sine, y - cosine, { stroke, width }));
      }
      parts.push(labSvg.circle(x, y, 4, { fill: GREY }));
    });
    const legend = FIRST_ROW + ROW + RADIUS + 22;
    for (const [x, stroke, name] of [[8, GREY, "PE(p)"], [85, BLUE, "PE(p+k)"], [180, ORANGE, "把 PE(p) 轉過 kω"]]) {
      parts.push(labSvg.line(x, legend, x + 16, legend, { stroke, width: 4 }));
      parts.push(labSvg.text(x + 21, legend, name));
    }
    const same = difference < 1e-9 ? "重疊" : "不重疊";
    const says = `p＝${p}，k＝${k}：轉過 k 步的指針和 PE(${p + k}) ${same}，每一對轉自己的角度，和 p 無關。`;
    return { svg: labSvg.picture(legend + 14, ...parts), says };
  }

  return { draw };
};

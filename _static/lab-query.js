// The twin of code/attnlab/labs/query.py.
"use strict";

(globalThis.labKinds ??= {}).query = (data) => {
  const [PLANE, TOP, RIGHT, UNIT, BARS, BAR] = [165, 18, 175, 27.5, 252, 45];
  const place = (left, [x, y]) => [left + PLANE / 2 + UNIT * x, TOP + PLANE / 2 - UNIT * y];

  function attend({ x, y, scale, mask }) {
    const last = mask === data.masks[1] ? data.position : data.keys.length - 1;
    const scores = data.keys.map(([a, b], j) => (j <= last ? (x * a + y * b) / data.divisors[scale] : -Infinity));
    const most = Math.max(...scores);
    const raised = scores.map((score) => Math.exp(score - most));
    const total = raised.reduce((a, b) => a + b);
    const weights = raised.map((e) => e / total);
    const output = [0, 1].map((c) => weights.reduce((sum, weight, j) => sum + weight * data.vectors[j][c], 0));
    return { last, weights, output };
  }

  function draw(values) {
    const { BLUE, ORANGE, GREY } = labSvg;
    const { last, weights, output } = attend(values);
    const [leftPlane, rightPlane] = [0, RIGHT].map((left) => {
      const [midX, midY] = place(left, [0, 0]);
      return [
        labSvg.line(left, midY, left + PLANE, midY, { stroke: GREY, width: 0.5 }),
        labSvg.line(midX, TOP, midX, TOP + PLANE, { stroke: GREY, width: 0.5 }),
        labSvg.rect(left, TOP, PLANE, PLANE, { fill: "transparent", stroke: GREY }),
      ];
    });
    const hull = data.vectors.map((v) => place(RIGHT, v).map(labSvg.number).join(",")).join(" ");
    rightPlane.push(labSvg.tag("polygon", { points: hull, fill: BLUE, "fill-opacity": 0.12, stroke: BLUE }));
    const parts = [labSvg.text(0, 8, "鍵 k 與查詢 q（拖動 q）"), labSvg.text(RIGHT, 8, "值 v 與輸出")];
    weights.forEach((weight, j) => {
      const both = [
        [leftPlane, 0, "k", data.keys[j]],
        [rightPlane, RIGHT, "v", data.vectors[j]],
      ];
      for (const [plane, left, name, point] of both) {
        const [cx, cy] = place(left, point);
        plane.push(labSvg.circle(cx, cy, 2 + 9 * Math.sqrt(weight), { fill: j <= last ? BLUE : GREY }));
        plane.push(labSvg.text(cx + (cx < left + PLANE - 35 ? 10 : -26), cy - 10, `${name}${j}`));
      }
      const centre = ((j + 0.5) * 340) / weights.length;
      parts.push(labSvg.rect(centre - 20, BARS - BAR * weight, 40, BAR * weight, { fill: BLUE }));
      parts.push(labSvg.text(centre, BARS - BAR * weight - 8, weight.toFixed(2), { anchor: "middle" }));
      parts.push(labSvg.text(centre, BARS + 9, `α${j}`, { anchor: "middle" }));
    });
    parts.push(labSvg.line(0, BARS, 340, BARS, { stroke: GREY }));
    const [qx, qy] = place(0, [values.x, values.y]);
    leftPlane.push(labSvg.line(...place(0, [0, 0]), qx, qy, { stroke: ORANGE, width: 2 }));
    leftPlane.push(labSvg.circle(qx, qy, 12, { fill: ORANGE }));
    leftPlane.push(labSvg.text(qx, qy, "q", { anchor: "middle", fill: "var(--pst-color-background, #ffffff)" }));
    const [ox, oy] = place(RIGHT, output);
    const turned = { fill: ORANGE, transform: `rotate(45 ${ox.toFixed(2)} ${oy.toFixed(2)})` };
    rightPlane.push(labSvg.rect(ox - 5, oy - 5, 10, 10, turned));

    const best = weights.indexOf(Math.max(...weights));
    const says =
      `q＝（${values.x.toFixed(1)}, ${values.y.toFixed(1)}）：看得最多的是 k${best}，權重 ${weights[best].toFixed(2)}；` +
      `輸出（${output[0].toFixed(2)}, ${output[1].toFixed(2)}）`;
    const planes = [
      labSvg.tag("g", { "data-drag": "q" }, leftPlane.join("")),
      labSvg.tag("g", {}, rightPlane.join("")),
    ];
    return { svg: labSvg.picture(BARS + 18, ...planes, ...parts), says };
  }

  const drag = (x, y) => ({ x: (x - PLANE / 2) / UNIT, y: (TOP + PLANE / 2 - y) / UNIT });
  return { draw, drag };
};

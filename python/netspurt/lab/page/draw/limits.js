// What limited the sender at each instant: one band, a colour for each limit.

import { Chart } from "./chart.js";
import { lowerBound } from "./draw.js";
import { colour } from "../base/dom.js";
import * as q from "../base/quantity.js";
import { limits } from "../base/words.js";

export class Limits extends Chart {
  load({ head, columns }) {
    const budget = head.verdict?.budget ?? [];
    this.begin = columns.limit_from ?? [];
    this.end = columns.limit_until ?? [];
    this.kind = columns.limit_kind ?? [];
    this.set(budget.map((line) => ({ name: line.limit, colour: `limit-${line.limit}`, sign: "square" })));
    // The legend keeps its order and its buttons from run to run; the shares change.
    for (const line of budget) {
      const key = [...this.legend.children].find((each) => each.dataset.name === line.limit);
      key.title = `${line.sentence} Click to show or hide.`;
      key.querySelector("span").textContent = `${line.limit} ${q.percent(line.share)}`;
    }
  }

  range() { return [0, 1]; }

  marks(context, x, y) {
    const shown = new Set(this.shown().map((each) => each.name));
    const [top, bottom] = [y(0.95), y(0.05)];
    // Of intervals before the visible part only the last one can reach into it.
    for (let row = Math.max(lowerBound(this.begin, this.span.from) - 1, 0); row < this.begin.length && this.begin[row] < this.span.to; row++) {
      const limit = limits[this.kind[row]];
      if (!shown.has(limit.name)) continue;
      context.fillStyle = colour(limit.paint);
      const left = x(this.begin[row]);
      context.fillRect(left, top, Math.max(x(this.end[row]) - left, 0.5), bottom - top);
    }
  }
}

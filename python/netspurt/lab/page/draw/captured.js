// The time–sequence graph of a capture, with that of a simulation over it, and the limits as a band below.

import { Chart } from "./chart.js";
import { shape, visible } from "./draw.js";
import { colour } from "../base/dom.js";
import * as q from "../base/quantity.js";
import { Limits } from "./limits.js";
import * as shared from "./view.js";

export class Captured extends Chart {
  constructor() {
    super({ title: "Captured", format: q.bytes, binary: true, height: 320, about: () => this.words ?? "Sequence numbers over time" });
    this.tight = true;
  }

  load(columns, end, simulated) {
    const series = (name, options) => (columns[`${name}_time`]?.length ? [{ ...options, time: columns[`${name}_time`], value: columns[`${name}_value`] }] : []);
    this.set([
      ...series("data", { name: "captured data", colour: "data", dots: true }),
      ...series("ack", { name: "ACK line", colour: "ack", steps: true, width: 1.2, until: end }),
      ...series("edge", { name: "window edge", colour: "edge", steps: true, width: 1, dash: [4, 3], until: end }),
      ...(simulated ? [{ name: "simulated data", colour: "simulated", width: 1.8, ...simulated }] : []),
      ...series("resent", { name: "retransmitted", colour: "lost", sign: "cross" }),
    ]);
  }

  // The window edge may be far above; it is drawn only where it is near.
  range(from, to) {
    const of = (series) => super.range.call({ shown: () => series }, from, to);
    const near = of(this.shown().filter((each) => each.name !== "window edge"));
    const far = of(this.shown().filter((each) => each.name === "window edge"));
    if (!near || !far) return near;
    return far[1] < near[1] + 1.5 * (near[1] - near[0] || 1) ? [near[0], Math.max(near[1], far[1])] : near;
  }

  marks(context, x, y) {
    const all = this.series;
    this.series = all.filter((each) => each.sign !== "cross");
    super.marks(context, x, y);
    this.series = all;
    const ratio = window.devicePixelRatio || 1;
    for (const series of this.shown().filter((each) => each.sign === "cross")) {
      context.strokeStyle = colour(series.colour);
      context.lineWidth = 1.8 * ratio;
      const [begin, end] = visible(series.time, this.span.from, this.span.to);
      for (let place = begin; place < end; place++) shape(context, "cross", x(series.time[place]), y(series.value[place]), 7 * ratio);
    }
  }
}

// The data of a run as a line: the end of each segment when it is sent.
export function sent({ columns }) {
  if (!columns.time) return null;
  const rows = [];
  for (let row = 0; row < columns.time.length; row++) if (columns.data_way[row] && columns.length[row] > 0) rows.push(row);
  return { time: Float64Array.from(rows, (row) => columns.time[row]), value: Float64Array.from(rows, (row) => columns.seq[row] + columns.length[row]) };
}

// Columns of a connection with its start at another time.
function shifted(columns, start) {
  const isTime = (name) => name.endsWith("_time") || name === "limit_from" || name === "limit_until";
  return Object.fromEntries(Object.entries(columns).map(([name, values]) =>
    [name, isTime(name) ? Float64Array.from(values, (time) => time + start) : values]));
}

// The times of a connection count from its start. Over a simulation it begins where that connection does there.
export class Pair {
  constructor() {
    this.sequence = new Captured();
    this.limits = new Limits({ title: "Limits", format: () => "", height: 74, about: () => this.answer?.head.verdict.sentence ?? "" });
    this.all = [this.sequence, this.limits];
    this.answer = null;
    this.start = 0;
    this.simulated = null;
  }

  // Another layout of the page forgets all charts.
  join() { for (const chart of this.all) if (chart.plot) shared.join(chart); }

  load(answer) {
    this.answer = answer;
    this.start = 0;
    this.simulated = null;
    this.sequence.words = answer.head.verdict.sentence;
    this.#draw();
  }

  align(run) { this.start = run.columns.time?.[0] ?? 0; }

  overlay(run) {
    this.simulated = sent(run);
    if (this.answer) this.#draw();
  }

  get end() { return this.start + Math.max(this.answer?.head.verdict.duration_s ?? 0, 1e-6); }

  #draw() {
    const columns = shifted(this.answer.columns, this.start);
    this.sequence.load(columns, this.end, this.simulated);
    this.limits.load({ head: this.answer.head, columns });
  }
}

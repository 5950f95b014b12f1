// The time–sequence graph: data when sent, retransmissions with their reasons, and the ACK line and window edge as
// known to the sender. Pointing at a segment shows its reason.

import { Chart } from "./chart.js";
import { lowerBound, shape, visible } from "./draw.js";
import { colour, el } from "../base/dom.js";
import { reasons } from "../base/words.js";
import * as shared from "./view.js";
import { view } from "./view.js";

const REACH = 14; // maximal distance in pixels from the cursor to a segment

export class Sequence extends Chart {
  // `pointed(row)` receives the segment under the pointer (null: none); `hold(row)` the clicked one.
  constructor(options, pointed, hold) {
    super(options);
    this.pointed = pointed;
    this.place.addEventListener("click", () => { if (this.row !== null) hold(this.row); });
    this.row = null;
  }

  // Rows of the data direction, and ACKs in the order of arrival.
  load(columns, end) {
    this.columns = columns;
    const { time, arrives, ack, window: room, data_way: way } = columns;
    const data = [], acks = [];
    for (let row = 0; row < time.length; row++) (way[row] ? data : acks).push(row);
    const heard = acks.filter((row) => arrives[row] === arrives[row] && ack[row] >= 0).sort((a, b) => arrives[a] - arrives[b]);
    this.data = Int32Array.from(data);
    this.dataTime = Float64Array.from(data, (row) => time[row]);
    this.acks = Int32Array.from(heard);
    const ackTime = Float64Array.from(heard, (row) => arrives[row]);
    this.ackTime = ackTime;
    this.retransmission = [...new Set(data.map((row) => columns.reason[row]))].filter((code) => reasons[code].retransmission);
    this.set([
      { name: "data", colour: "data", sign: "bar", time: this.dataTime, value: Float64Array.from(data, (row) => columns.seq[row] + columns.length[row]), own: true },
      ...this.retransmission.map((code) => ({ name: reasons[code].title, colour: reasons[code].paint, sign: reasons[code].shape, code, own: true, ...only(data, columns, code) })),
      { name: "lost", colour: "lost", sign: "cross", own: true, lost: true, ...lost(data, columns) },
      { name: "ACK line", colour: "ack", steps: true, width: 1.2, time: ackTime, value: Float64Array.from(heard, (row) => ack[row]), until: end },
      { name: "window edge", colour: "edge", steps: true, width: 1, dash: [4, 3], time: ackTime, value: Float64Array.from(heard, (row) => ack[row] + room[row]), until: end },
    ].filter((each) => !each.own || each.time.length));
  }

  // The window edge may be far above; it is drawn only where it is near.
  range(from, to) {
    const near = super.range.call({ shown: () => this.shown().filter((each) => each.name !== "window edge") }, from, to);
    if (!near) return null;
    const edge = this.shown().find((each) => each.name === "window edge");
    const far = edge && super.range.call({ shown: () => [edge] }, from, to);
    return far && far[1] < near[1] + 1.5 * (near[1] - near[0] || 1) ? [near[0], Math.max(near[1], far[1])] : near;
  }

  marks(context, x, y) {
    const ratio = window.devicePixelRatio || 1;
    const all = this.series;
    this.series = all.filter((each) => !each.own);
    super.marks(context, x, y);
    this.series = all;
    const shown = new Map(this.shown().map((each) => [each.code ?? each.name, each]));
    if (shown.has("data")) this.#data(context, x, y, ratio);
    for (const series of shown.values()) {
      if (!series.own || series.name === "data") continue;
      context.fillStyle = context.strokeStyle = colour(series.colour);
      context.lineWidth = 1.8 * ratio;
      const [begin, end] = visible(series.time, view.from, view.to);
      for (let place = begin; place < end; place++) {
        shape(context, series.lost ? "cross" : reasons[series.code].shape, x(series.time[place]), y(series.value[place]), (series.lost ? 7 : 8) * ratio);
      }
    }
    if (this.row !== null) this.#ring(context, x, y, ratio);
  }

  // A segment is as high as its length, and at least a dot.
  #data(context, x, y, ratio) {
    const { seq, length } = this.columns;
    context.fillStyle = colour("data");
    const width = 2 * ratio;
    const [begin, end] = visible(this.dataTime, view.from, view.to);
    let lastX = NaN, lastY = NaN;
    for (let place = begin; place < end; place++) {
      const row = this.data[place];
      const here = Math.round(x(this.dataTime[place])), low = y(seq[row]), high = y(seq[row] + length[row]);
      if (here === lastX && Math.abs(high - lastY) < 0.5) continue;
      lastX = here;
      lastY = high;
      context.fillRect(here - width / 2, high, width, Math.max(low - high, 2 * ratio));
    }
  }

  #ring(context, x, y, ratio) {
    const [at, there] = this.spot(this.row);
    context.strokeStyle = colour("ink");
    context.lineWidth = 1.5 * ratio;
    context.beginPath();
    context.arc(x(at), y(there), 7 * ratio, 0, 2 * Math.PI);
    context.stroke();
  }

  // The position of a row: data when sent, an ACK when received.
  spot(row) {
    const { time, arrives, seq, length, ack, data_way: way } = this.columns;
    return way[row] ? [time[row], seq[row] + length[row] / 2] : [arrives[row], ack[row]];
  }

  point(plot) {
    if (!this.columns) return;
    const { left, top } = plot.cursor;
    // A cursor that another chart moves has no height.
    if (left < 0 || top === undefined || top < 0 || !this.place.matches(":hover")) return;
    this.choose(this.#nearest(plot, left, top));
  }

  choose(row) {
    if (row === this.row) return;
    this.row = row;
    this.pointed(row);
    this.plot.redraw(false);
  }

  #nearest(plot, left, top) {
    const [from, to] = [plot.posToVal(left - REACH, "x"), plot.posToVal(left + REACH, "x")];
    let best = null, least = REACH * REACH;
    const look = (sorted, rows) => {
      for (let place = lowerBound(sorted, from); place < sorted.length && sorted[place] <= to; place++) {
        const [at, there] = this.spot(rows[place]);
        const far = (plot.valToPos(at, "x") - left) ** 2 + (plot.valToPos(there, "y") - top) ** 2;
        if (far < least) [best, least] = [rows[place], far];
      }
    };
    look(this.dataTime, this.data);
    look(this.ackTime, this.acks);
    return best;
  }

  // With the keyboard: comma and full stop select the previous and next segment.
  key(event) {
    if (event.key !== "," && event.key !== ".") { shared.key(event); return; }
    event.preventDefault();
    const step = event.key === "." ? 1 : -1;
    const begin = this.row === null ? lowerBound(this.columns.time, view.from) - (step > 0 ? 1 : 0) : this.row;
    const row = Math.min(Math.max(0, begin + step), this.columns.time.length - 1);
    const at = this.columns.time[row];
    if (at < view.from || at > view.to) shared.pan((at - (view.from + view.to) / 2) / (view.to - view.from));
    this.choose(row);
  }
}

function only(data, { time, seq, length, reason }, code) {
  const rows = data.filter((row) => reason[row] === code);
  return { time: Float64Array.from(rows, (row) => time[row]), value: Float64Array.from(rows, (row) => seq[row] + length[row] / 2) };
}

function lost(data, { time, seq, length, cause }) {
  const rows = data.filter((row) => cause[row] > 0 && length[row] > 0);
  return { time: Float64Array.from(rows, (row) => time[row]), value: Float64Array.from(rows, (row) => seq[row] + length[row] / 2) };
}

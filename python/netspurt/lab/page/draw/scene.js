// Two hosts and the segments in flight between them at one time. A segment waits at its sender for its delay beyond
// the fastest segment of its kind, and then moves as fast as that one: a queue appears as a pile.

import { colour, el } from "../base/dom.js";
import { lowerBound } from "./draw.js";
import { standing } from "./why.js";
import { reasons } from "../base/words.js";
import * as q from "../base/quantity.js";

const HEIGHT = 168;
const SIDE = 134;
const HOST = 94; // width of one // room for a host and its pile
const FALLS = 0.18; // share of a flight in which a lost segment stays visible

export class Scene {
  constructor(name, pointed) {
    this.canvas = el("canvas", { role: "img" });
    this.element = el("div.scene", {}, name ? el("h3", {}, name) : null, this.canvas);
    this.spots = [];
    this.canvas.addEventListener("pointermove", (event) => pointed(this.#at(event)));
    this.canvas.addEventListener("pointerleave", () => pointed(null));
    new ResizeObserver(() => this.draw(this.moment ?? 0)).observe(this.element);
  }

  load({ head, columns }) {
    this.head = head;
    this.columns = columns;
    const flow = head.flows.find((each) => each.flow === head.chosen[0] && each.index === head.chosen[1]);
    this.hosts = head.client_sends ? [flow.from, flow.to] : [flow.to, flow.from];
    const { time, arrives, length, data_way: way } = columns;
    // The shortest flight of data and of other segments, and the longest flight of all.
    this.quickest = [[Infinity, Infinity], [Infinity, Infinity]];
    this.longest = 0;
    for (let row = 0; row < time.length; row++) {
      const took = arrives[row] - time[row];
      if (!(took >= 0)) continue;
      const kind = length[row] > 0 ? 1 : 0;
      this.quickest[way[row]][kind] = Math.min(this.quickest[way[row]][kind], took);
      this.longest = Math.max(this.longest, took);
    }
    for (const each of this.quickest) for (const kind of [0, 1]) if (each[kind] === Infinity) each[kind] = Math.min(...each, ...this.quickest.flat());
    if (!Number.isFinite(this.quickest[1][1])) this.quickest = [[1e-3, 1e-3], [1e-3, 1e-3]];
    this.canvas.setAttribute("aria-label", `Segments on their way between ${this.hosts.join(" and ")}`);
  }

  draw(moment) {
    this.moment = moment;
    if (!this.columns) return;
    const ratio = window.devicePixelRatio || 1, width = this.element.clientWidth;
    if (this.canvas.width !== Math.round(width * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = HEIGHT * ratio;
      this.canvas.style.height = `${HEIGHT}px`;
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    this.#hosts(context, width);
    this.spots = [];
    const { time } = this.columns;
    const piles = [0, 0];
    const slack = Math.max(...this.quickest.flat()) * (1 + FALLS);
    for (let row = lowerBound(time, moment - this.longest - slack); row < time.length && time[row] <= moment; row++) {
      this.#segment(context, row, moment, width, piles);
    }
    for (const way of [0, 1]) this.#pile(context, way, piles[way], width);
    this.#standing(context, width, moment);
  }

  #hosts(context, width) {
    context.font = "600 13px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.strokeStyle = colour("line");
    context.lineWidth = 1;
    for (const lane of [LANE[1], LANE[0]]) {
      context.beginPath();
      context.moveTo(SIDE, lane + 0.5);
      context.lineTo(width - SIDE, lane + 0.5);
      context.stroke();
    }
    for (const [place, name] of this.hosts.entries()) {
      const x = place === 0 ? 0.5 : width - HOST - 0.5;
      context.fillStyle = colour("band");
      context.strokeStyle = colour("line");
      context.beginPath();
      context.roundRect(x, 44.5, HOST, 84, 8);
      context.fill();
      context.stroke();
      context.fillStyle = colour("ink");
      context.textAlign = "center";
      context.fillText(name, x + HOST / 2, 64, HOST - 8);
    }
  }

  // Bars of the sender's window and of its outstanding data, inside its host.
  #standing(context, width, moment) {
    const [cwnd, flight] = ["cwnd", "flight"].map((name) => standing(this.columns, name, moment));
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillStyle = colour("soft");
    const x = HOST / 2;
    if (cwnd !== null) context.fillText(`cwnd ${q.bytes(cwnd)}`, x, 88, HOST - 6);
    if (flight !== null) context.fillText(`in flight ${q.bytes(flight)}`, x, 106, HOST - 6);
    const acked = this.#acknowledged(moment);
    context.fillText(q.bytes(acked), width - x, 88, HOST - 6);
    context.fillText("in order", width - x, 106, HOST - 6);
  }

  // The data that the receiver has acknowledged so far.
  #acknowledged(moment) {
    const { time, ack, data_way: way } = this.columns;
    for (let row = lowerBound(time, moment + 1e-15) - 1; row >= 0; row--) if (!way[row]) return Math.max(0, ack[row]);
    return 0;
  }

  #segment(context, row, moment, width, piles) {
    const { time, arrives, length, cause, reason, data_way: way } = this.columns;
    const flies = this.quickest[way[row]][length[row] > 0 ? 1 : 0];
    const gone = !(arrives[row] >= 0);
    const lands = gone ? time[row] + flies : arrives[row];
    const leaves = lands - flies;
    // Waits too short to be visible are skipped.
    if (moment < leaves && leaves - time[row] > 0.02 * flies) { piles[way[row]]++; return; }
    const part = flies > 0 ? Math.max(0, moment - leaves) / flies : 1;
    // A lost segment falls at half of its way; a segment dropped by a queue, at its start.
    const place = gone ? (/queue|red|codel|pie|dualpi2|cobalt|ack-filter/.test(this.head.causes[cause[row]] ?? "") ? 0 : 0.5) : 1;
    if (part > place + (gone ? FALLS : 0)) return;
    const along = Math.min(part, place);
    const span = width - 2 * SIDE;
    const x = SIDE + (way[row] ? along : 1 - along) * span;
    const fallen = gone ? Math.max(0, part - place) / FALLS : 0;
    const y = LANE[way[row]] + fallen * 26;
    const what = reasons[reason[row]];
    context.globalAlpha = 1 - fallen;
    context.fillStyle = gone && fallen > 0 ? colour("lost") : paint(what, length[row]);
    const [wide, high] = length[row] > 0 ? [9, 15] : [4, 11];
    context.beginPath();
    context.roundRect(x - wide / 2, y - high / 2, wide, high, 2);
    context.fill();
    context.globalAlpha = 1;
    this.spots.push({ x, y, row });
  }

  // The waiting segments, as a pile at the edge of the host, and their number.
  #pile(context, way, count, width) {
    if (!count) return;
    const x = way ? SIDE - 18 : width - SIDE + 18, step = Math.min(4, 58 / count);
    context.fillStyle = colour(way ? "data" : "ack");
    for (let place = 0; place < Math.min(count, 58); place++) context.fillRect(x - 6, LANE[way] + 7 - place * step, 12, Math.max(1, step - 1));
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillStyle = colour("soft");
    context.fillText(`${count} wait${count === 1 ? "s" : ""}`, x, LANE[way] + 22);
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null, least = 14 ** 2;
    for (const spot of this.spots) {
      const far = (spot.x - x) ** 2 + (spot.y - y) ** 2;
      if (far < least) [best, least] = [spot.row, far];
    }
    return best;
  }
}

const LANE = [118, 62]; // ACKs below, data above

function paint(reason, length) {
  if (reason.retransmission) return colour(reason.paint);
  if (length > 0) return colour("data");
  return colour(reason.name === "nak" || reason.name === "duplicate-ack" ? "edge" : "ack");
}

// The charts of one side, or of two sides next to each other.

import { Chart } from "./chart.js";
import { el } from "../base/dom.js";
import * as q from "../base/quantity.js";
import { Limits } from "./limits.js";
import { Sequence } from "./sequence.js";
import * as shared from "./view.js";

const QUEUES = ["data", "why-timeout", "why-nak-resend", "why-go-back-n"];

// One side's charts. `pointed` and `hold` are those of Sequence.
export class Pictures {
  constructor(name, pointed, hold) {
    const flows = (what) => () => (this.answer ? what(this.answer.head) : "");
    const flow = (head) => head.flows.find((each) => each.flow === head.chosen?.[0] && each.index === head.chosen?.[1]);
    this.sequence = new Sequence({ title: "Time and sequence", format: q.bytes, binary: true, height: 320,
      about: flows((head) => (flow(head) ? `${flow(head).segments_sent} segments, ${flow(head).retransmitted} retransmitted, over ${q.time(head.active_s)}` : "No connection")) }, pointed, hold);
    this.sequence.tight = true;
    this.limits = new Limits({ title: "Limits", format: () => "", height: 74, about: flows((head) => head.verdict?.sentence ?? "No connection") });
    this.windows = new Chart({ title: "Windows", format: q.bytes, binary: true, height: 210, about: () => "cwnd, ssthresh, data in flight, and the peer's receive window" });
    this.delays = new Chart({ title: "Round trips", format: q.time, height: 210,
      about: flows((head) => (flow(head) ? `mean ${q.time(flow(head).rtt_mean_s)}` : "")) });
    this.rates = new Chart({ title: "Throughput", format: q.rate, height: 210,
      about: flows((head) => (flow(head) ? `goodput ${q.rate(flow(head).goodput_bps)}` : "")) });
    this.queues = new Chart({ title: "Queues (packets)", format: (value) => `${Number(value.toFixed(2))}`, height: 210, about: () => "packets waiting" });
    this.all = [this.sequence, this.limits, this.windows, this.delays, this.rates, this.queues];
    this.name = name;
  }

  twin(other) { this.all.forEach((chart, place) => chart.twin(other?.all[place])); }

  load(answer, end) {
    this.answer = answer;
    const { columns } = answer;
    if (columns.time) this.sequence.load(columns, end); else this.sequence.set([]);
    this.limits.load(answer);
    this.shade(null, end);
  }

  // The lines, and behind them the bands of several seeds if there are some.
  shade(spread, end) {
    const { head, columns } = this.answer;
    const has = (name) => columns[`${name}_time`]?.length > 0;
    const series = (name, options) => (has(name) ? [{ name: options.name ?? name, time: columns[`${name}_time`], value: columns[`${name}_value`], steps: true, until: end, ...options }] : []);
    const band = (name, words, colour) => (spread?.columns[`${name}_time`] ? [{ name: words, colour, time: spread.columns[`${name}_time`], low: spread.columns[`${name}_low`], high: spread.columns[`${name}_high`] }] : []);
    const several = (what) => `${what} of ${spread?.head.results.length} seeds`;
    this.windows.set([
      ...band("cwnd", several("cwnd"), "data"),
      ...series("cwnd", { colour: "data", width: 1.8 }),
      ...series("ssthresh", { colour: "why-go-back-n", dash: [5, 3], width: 1.3 }),
      ...series("flight", { name: "in flight", colour: "ack", width: 1.1 }),
      ...series("window", { name: "receive window", colour: "edge", dash: [2, 2], width: 1.1 }),
    ]);
    // A large window that limits nothing would compress the others: a cwnd far above them may exceed the chart.
    const most = (name) => (columns[`${name}_value`] ?? []).reduce((a, b) => Math.max(a, b), 0);
    const held = Math.max(most("flight"), Math.min(most("window") || Infinity, most("cwnd")));
    this.windows.range = function range(from, to) {
      const all = Chart.prototype.range.call(this, from, to);
      return all && held && all[1] > 2.5 * held ? [all[0], 1.3 * held] : all;
    };
    this.delays.set([
      ...band("srtt", several("srtt"), "data"),
      ...series("rtt", { name: "samples", colour: "ack", dots: true }),
      ...series("srtt", { name: "SRTT", colour: "data" }),
      ...series("rto", { name: "RTO", colour: "why-timeout", dash: [5, 3], width: 1.3 }),
    ]);
    this.rates.set(columns.rate_time ? [
      ...band("rate", several("delivered"), "data"),
      { name: "delivered", colour: "data", time: columns.rate_time, value: columns.rate_delivered, width: 1.8 },
      { name: "sent", colour: "edge", time: columns.rate_time, value: columns.rate_sent, width: 1.1, hidden: true },
    ] : []);
    this.queues.set(head.queues.flatMap((name, place) => [...band(`queue${place}`, several(name), QUEUES[place]), ...series(`queue${place}`, { name, colour: QUEUES[place], width: 1.2 })]));
  }
}

// Puts the charts of all sides onto the page: two next to each other, or one with its small charts in two columns.
export function lay(place, sides) {
  shared.leaveAll();
  for (const side of sides) for (const chart of side.all) if (chart.plot) shared.join(chart);
  sides.forEach((side, number) => side.twin(sides.length > 1 ? sides[1 - number] : null));
  place.classList.toggle("two", sides.length > 1);
  for (const side of sides) for (const chart of side.all) chart.element.querySelector("h3").dataset.side = sides.length > 1 ? side.name : "";
  place.replaceChildren(...(sides.length > 1
    ? [...sides.map((side) => el("h3.side", {}, side.name)), ...sides[0].all.flatMap((_, number) => sides.map((side) => side.all[number].element))]
    : sides[0].all.map((chart) => chart.element)));
  for (const side of sides) {
    side.sequence.element.classList.toggle("wide", sides.length === 1);
    side.limits.element.classList.toggle("band", sides.length === 1);
  }
}

// Results as a table: flows and links. With two settings, both and their difference.

import { el } from "../base/dom.js";
import * as q from "../base/quantity.js";

// A change is coloured by whether it is for the better, not by its sign.
function verdict(before, now, better) {
  const change = before ? now / before - 1 : Math.sign(now ?? 0);
  if (!better || before === null || now === null || Math.abs(change) < 5e-3) return "";
  return change * better > 0 ? ".good" : ".bad";
}

const share = (now, before) => {
  if (!before || now === null) return "";
  const change = Math.abs(100 * (now / before - 1));
  return change < 5e-4 ? "same" : `${now >= before ? "+" : "−"}${change >= 100 ? Math.round(change) : change.toPrecision(3)} %`;
};

// Each has a name, its value in the answer, its format, its meaning, and whether more is better (1) or worse (-1).
const OF_FLOW = [
  ["goodput", (flow) => flow.goodput_bps, q.rate, "New data received, over its time", 1],
  ["took", (flow) => (flow.end_s === null ? null : flow.end_s - flow.start_s), q.time, "From its start to its close", -1],
  ["delivered", (flow) => flow.bytes_delivered, q.amount, "Bytes that arrived in order"],
  ["retransmitted", (flow) => flow.retransmitted, q.count, "Retransmitted data segments", -1],
  ["timeouts", (flow) => flow.timeouts, q.count, "Expirations of the retransmission timer", -1],
  ["mean RTT", (flow) => flow.rtt_mean_s, q.time, "Mean of all RTT samples", -1],
];
const OF_LINKS = [
  ["lost", (links) => links.reduce((sum, link) => sum + Object.values(link.drops).reduce((a, b) => a + b, 0), 0), q.count, "Packets, on all links", -1],
  ["busiest link", (links) => Math.max(...links.map((link) => link.utilisation ?? 0)), q.percent, "Share of time in which the link transmits"],
  ["longest queue", (links) => Math.max(...links.map((link) => link.queue_max_packets ?? 0)), (value) => `${q.count(value)} ${value === 1 ? "packet" : "packets"}`, "At any moment, on any link", -1],
];

export function numbers(answers) {
  const flows = answers.map(({ head }) => head.chosen && head.flows.find((each) => each.flow === head.chosen[0] && each.index === head.chosen[1]));
  const rows = [
    ...OF_FLOW.map(([name, of, ...more]) => [name, flows.map((flow) => (flow ? of(flow) : null)), ...more]),
    ...OF_LINKS.map(([name, of, ...more]) => [name, answers.map(({ head }) => of(head.links)), ...more]),
  ];
  if (answers.length === 1) {
    return el("dl.tiles", {}, ...rows.map(([name, [value], format, title]) =>
      el("div", { title }, el("dt", {}, name), el("dd", {}, format(value)))));
  }
  return el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }), ...rows.map(([name, , , title]) => el("th.number", { scope: "col", title }, name)))),
    el("tbody", {},
      ...answers.map((_, side) => el("tr", {}, el("th", { scope: "row" }, "AB"[side]), ...rows.map(([, values, format]) => el("td.number", {}, format(values[side]))))),
      el("tr.difference", {}, el("th", { scope: "row", title: "B against A" }, "B to A"), ...rows.map(([, [a, b], , , better]) => el(`td.number${verdict(a, b, better)}`, {}, share(b, a))))));
}

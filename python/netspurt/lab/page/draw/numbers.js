// Results as a table: flows and links. With two settings, both and their difference.

import { el } from "../base/dom.js";
import * as q from "../base/quantity.js";

const share = (now, before) => {
  if (!before || now === null) return "";
  const change = Math.abs(100 * (now / before - 1));
  return change < 5e-4 ? "same" : `${now >= before ? "+" : "−"}${change >= 100 ? Math.round(change) : change.toPrecision(3)} %`;
};

// Each has a name, its value in the answer, its format, and its meaning.
const OF_FLOW = [
  ["goodput", (flow) => flow.goodput_bps, q.rate, "New data received, over its time"],
  ["took", (flow) => (flow.end_s === null ? null : flow.end_s - flow.start_s), q.time, "From its start to its close"],
  ["delivered", (flow) => flow.bytes_delivered, q.bytes, "Bytes that arrived in order"],
  ["retransmitted", (flow) => flow.retransmitted, q.count, "Retransmitted data segments"],
  ["timeouts", (flow) => flow.timeouts, q.count, "Expirations of the retransmission timer"],
  ["mean RTT", (flow) => flow.rtt_mean_s, q.time, "Mean of all RTT samples"],
];
const OF_LINKS = [
  ["lost", (links) => links.reduce((sum, link) => sum + Object.values(link.drops).reduce((a, b) => a + b, 0), 0), q.count, "Packets, on all links"],
  ["busiest link", (links) => Math.max(...links.map((link) => link.utilisation ?? 0)), q.percent, "Share of time in which the link transmits"],
  ["longest queue", (links) => Math.max(...links.map((link) => link.queue_max_packets ?? 0)), (value) => `${q.count(value)} ${value === 1 ? "packet" : "packets"}`, "At any moment, on any link"],
];

export function numbers(answers) {
  const flows = answers.map(({ head }) => head.chosen && head.flows.find((each) => each.flow === head.chosen[0] && each.index === head.chosen[1]));
  const rows = [
    ...OF_FLOW.map(([name, of, format, title]) => [name, flows.map((flow) => (flow ? of(flow) : null)), format, title]),
    ...OF_LINKS.map(([name, of, format, title]) => [name, answers.map(({ head }) => of(head.links)), format, title]),
  ];
  if (answers.length === 1) {
    return el("dl.tiles", {}, ...rows.map(([name, [value], format, title]) =>
      el("div", { title }, el("dt", {}, name), el("dd", {}, format(value)))));
  }
  return el("table", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }), ...rows.map(([name, , , title]) => el("th.number", { scope: "col", title }, name)))),
    el("tbody", {},
      ...answers.map((_, side) => el("tr", {}, el("th", { scope: "row" }, "AB"[side]), ...rows.map(([, values, format]) => el("td.number", {}, format(values[side]))))),
      el("tr.difference", {}, el("th", { scope: "row", title: "B against A" }, "B to A"), ...rows.map(([, [a, b]]) => el("td.number", {}, share(b, a))))));
}

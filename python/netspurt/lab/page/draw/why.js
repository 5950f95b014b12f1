// The reason for a segment, and the state of its sender.

import { lowerBound } from "./draw.js";
import { el } from "../base/dom.js";
import * as q from "../base/quantity.js";
import { reasons } from "../base/words.js";

// Columns with their names for readers.
const STATE = [["cwnd", "cwnd", q.bytes], ["ssthresh", "ssthresh", q.bytes], ["flight", "in flight", q.bytes], ["window", "receive window", q.bytes],
  ["srtt", "SRTT", q.time], ["rto", "RTO", q.time]];

// The description of one segment, as elements. `side` is a name, or empty if there is only one.
export function explain({ head, columns }, row, side) {
  const reason = reasons[columns.reason[row]];
  const ours = columns.data_way[row] === 1;
  const flow = head.flows.find((each) => each.flow === head.chosen[0] && each.index === head.chosen[1]);
  const [near, far] = ours === head.client_sends ? [flow.from, flow.to] : [flow.to, flow.from];
  const title = el("strong", {}, `${side}${near} → ${far}, ${reason.title}`);
  title.style.color = `var(--${reason.retransmission ? reason.paint : "ink"})`;
  return [
    el("p", {}, title, ` at ${seconds(columns.time[row])}: ${carried(columns, row)}. `, fate(head, columns, row)),
    el("p.words", {}, reason.words),
    el("dl", {}, ...(ours ? STATE : []).flatMap(([column, name, format]) => {
      const value = standing(columns, column, columns.time[row]);
      return value === null ? [] : [el("div", {}, el("dt", {}, name), el("dd", {}, Number.isFinite(value) ? format(value) : "∞"))];
    })),
  ];
}

function carried({ length, seq, ack, nak }, row) {
  const parts = [];
  if (length[row] > 0) parts.push(`${q.count(length[row])} bytes from ${q.count(seq[row])} on`);
  if (nak[row] >= 0) parts.push(`requests byte ${q.count(nak[row])}`);
  if (length[row] === 0 && ack[row] >= 0) parts.push(`acknowledges ${q.count(ack[row])}`);
  return parts.join(", ") || "no data";
}

function fate(head, { arrives, cause, time }, row) {
  if (cause[row] > 0) return el("span.lost", {}, `Lost: ${head.causes[cause[row]]}.`);
  return `Arrived ${q.time(arrives[row] - time[row])} later.`;
}

// The value of a series at that time; none before its first value.
export function standing(columns, name, at) {
  const time = columns[`${name}_time`];
  if (!time?.length) return null;
  // Changes at this instant are effects of the segment, so the state before it is shown.
  const place = lowerBound(time, at) - 1;
  return columns[`${name}_value`][Math.max(place, 0)];
}

const seconds = (value) => `${value.toFixed(6).replace(/0{1,3}$/, "")} s`;

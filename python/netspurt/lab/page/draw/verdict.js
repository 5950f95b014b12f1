// How fast the transfer was, and what limited it: one large number, one sentence, and the time budget as a bar.

import { el } from "../base/dom.js";
import * as q from "../base/quantity.js";

export function verdicts(answers) {
  const shown = answers.map(({ head }, side) => verdict(head, answers.length > 1 ? "AB"[side] : ""));
  const times = answers.map(({ head }) => head.verdict?.duration_s);
  if (answers.length > 1 && times.every((each) => each > 0) && complete(answers)) shown.push(compared(times));
  return shown;
}

const flowOf = (head) => head.chosen && head.flows.find((each) => each.flow === head.chosen[0] && each.index === head.chosen[1]);
const complete = (answers) => answers.every(({ head }) => flowOf(head)?.completed);

function verdict(head, side) {
  const found = head.verdict, flow = flowOf(head);
  if (!found) return el("div.verdict", {}, el("p.large", {}, side ? `${side}: ` : "", "No connection"));
  const rate = (8 * found.bytes) / found.duration_s;
  const [large, small] = flow?.completed
    ? [q.time(found.duration_s), `for ${q.amount(found.bytes)}, ${q.rate(rate)}`]
    : [q.rate(rate), `over ${q.time(found.duration_s)}, not completed`];
  return el("div.verdict", {},
    el("p.large", {}, el("small", {}, side ? `${side}  ` : ""), large, el("small", {}, ` ${small}`)),
    el("p", {}, el("strong", {}, `${found.limit}: `), found.sentence), ...budget(found));
}

// What several seeds say: each setting's median and range, and for two settings how often B is faster.
export function spreads(all) {
  const shown = all.map(({ head }, side) => {
    const { results, wanted } = head, name = all.length > 1 ? `${"AB"[side]}: ` : "";
    const took = results.map((each) => each.took_s).filter((each) => each !== null).sort((a, b) => a - b);
    const rates = results.map((each) => each.goodput_bps).sort((a, b) => a - b);
    const done = results.length < wanted ? `${results.length} of ${wanted} seeds (no time for more)` : `${wanted} seeds`;
    const [values, words] = took.length === results.length && took.length ? [took, q.time] : [rates, q.rate];
    return el("p.spread", {}, values.length ? `${name}${done}: median ${words(median(values))}, from ${words(values[0])} to ${words(values.at(-1))}.` : `${name}${done}: no connection.`);
  });
  return all.length > 1 ? [...shown, ...paired(all.map(({ head }) => head.results))] : shown;
}

const median = (values) => (values[(values.length - 1) >> 1] + values[values.length >> 1]) / 2;

// The same seed on both sides is a pair.
function paired([a, b]) {
  const pairs = a.flatMap((one) => b.filter((other) => other.seed === one.seed).map((other) => [one, other]));
  if (!pairs.length) return [];
  const faster = pairs.map(([one, other]) => (one.took_s !== null && other.took_s !== null ? one.took_s / other.took_s : other.goodput_bps / one.goodput_bps)).sort((x, y) => x - y);
  const wins = faster.filter((each) => each > 1.0005).length;
  return [el("p.compared", {}, `B is faster with ${wins} of ${pairs.length} seeds; median ${q.factor(median(faster))} times as fast, from ${q.factor(faster[0])} to ${q.factor(faster.at(-1))} times.`)];
}

// The time budget as a bar, and with `named` its limits in words.
export function budget(found, named = false) {
  const bar = el("div.budget", { role: "img", ariaLabel: found.budget.map((line) => `${line.limit} ${q.percent(line.share)}`).join(", ") },
    ...found.budget.map((line) => part(line)));
  if (!named) return [bar];
  const shown = found.budget.filter((line) => line.share >= 0.005);
  return [bar, el("ul.shares", {}, ...shown.map((line) => {
    const sign = el("i", { ariaHidden: "true" });
    sign.style.background = `var(--limit-${line.limit})`;
    return el("li", { title: line.sentence }, sign, `${line.limit} ${q.percent(line.share)}, ${q.time(line.seconds)}`);
  }))];
}

function part({ limit, share, sentence }) {
  const element = el("i", { title: `${limit}, ${q.percent(share)}. ${sentence}` });
  element.style.cssText = `width: ${100 * share}%; background: var(--limit-${limit})`;
  return element;
}

function compared([a, b]) {
  const factor = Math.max(a / b, b / a);
  const words = factor < 1.005 ? "A and B take the same time." : `${b < a ? "B" : "A"} is ${q.factor(factor)} times as fast as ${b < a ? "A" : "B"}.`;
  return el("p.compared", {}, words);
}

// A capture on the page: the diagnosis, the captured graph, the fitted path behind the sliders, and the remedies.

import * as api from "./base/api.js";
import { Pair } from "./draw/captured.js";
import { $, el, press, say } from "./base/dom.js";
import * as q from "./base/quantity.js";
import { state } from "./base/state.js";
import { budget } from "./draw/verdict.js";
import * as shared from "./draw/view.js";

const pair = new Pair();
let hooks = {}; // listed(capture), fitted(book, flow), changed(), copy(what, text)
let control = null; // stops the work on the capture before
let fitted = null;

export const isCapture = (key) => key?.startsWith("capture/") ?? false;
export const end = () => (state.capture && pair.answer ? pair.end : 0);
export const join = () => { if (state.capture) pair.join(); };
// Before the time range is set, and after it.
export const align = (answer) => { if (state.capture && fitted) pair.align(answer); };
export const simulated = (answer) => { if (state.capture && fitted) pair.overlay(answer); };

export function begin(given) {
  hooks = given;
  $("capture-charts").replaceChildren(...pair.all.map((chart) => chart.element));
  $("open-capture").onclick = () => $("capture-file").click();
  $("capture-file").onchange = () => { take($("capture-file").files[0]); $("capture-file").value = ""; };
  $("capture-copy").onclick = () => fitted && hooks.copy("Scenario", state.sides[0].settings.size || state.text !== null ? state.sides[0].answer?.head.scenario ?? fitted.scenario : fitted.scenario);
  $("capture-connection").onchange = () => choose(Number($("capture-connection").value));
  const files = (event) => [...event.dataTransfer.types].includes("Files");
  let depth = 0;
  const over = (change) => { depth = Math.max(0, depth + change); document.body.classList.toggle("dropping", depth > 0); };
  document.addEventListener("dragenter", (event) => { if (files(event)) over(1); });
  document.addEventListener("dragleave", (event) => { if (files(event)) over(-1); });
  document.addEventListener("dragover", (event) => { if (files(event)) event.preventDefault(); });
  document.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    over(-depth);
    take(event.dataTransfer.files[0]);
  });
}

// A file of the user goes to the local server, and nowhere else.
async function take(file) {
  if (!file) return;
  start(null, file.name);
  const mine = control.signal;
  try {
    const found = await api.upload(file, (done, total) => progress({ done, total, words: "Copying the capture to the local server" }), mine);
    hooks.listed(found);
    await open(found.key);
  } catch (error) {
    failed(error, mine);
  }
}

// Reads a capture and shows its worst connection.
export async function open(key, keep = false) {
  start(key, "", keep);
  const mine = control.signal;
  try {
    const found = await follow("capture/read", { key }, mine);
    $("capture-fault").textContent = found.fault ? `${found.fault}.` : "";
    list(found);
    await choose(found.connections[0].connection, keep);
  } catch (error) {
    failed(error, mine);
  }
}

export function close() {
  control?.abort();
  [state.capture, fitted] = [null, null];
  delete document.body.dataset.capture;
  $("capture").hidden = true;
}

function start(key, name, keep = false) {
  control?.abort();
  control = new AbortController();
  [state.capture, fitted, pair.answer] = [key ?? "capture/", null, null];
  if (!keep) for (const side of state.sides) side.settings.clear();
  document.body.dataset.capture = "reading";
  $("capture").hidden = false;
  $("capture-list").replaceChildren();
  for (const name of ["capture-verdict", "capture-fit", "capture-remedies"]) $(name).replaceChildren();
  for (const name of ["capture-charts", "capture-tools", "capture-picked", "wrong"]) $(name).hidden = true;
  for (const name of ["capture-fault", "capture-wrong"]) $(name).textContent = "";
  progress({ done: 0, total: 1, words: name ? `Opening ${name}` : "Reading the capture" });
}

function failed(error, signal) {
  if (error.name === "AbortError" || signal.aborted) return;
  progress(null);
  $("capture-wrong").textContent = sentence(error.message);
}

// The name of a file stays as it is.
const sentence = (text) => `${/^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text}${/[.!?]$/.test(text) ? "" : "."}`;

// The result of some work on the server; its progress is shown meanwhile.
async function follow(what, body, signal) {
  let result = null;
  await api.follow(what, body, (event, data) => {
    if (signal.aborted) return;
    if (event === "progress") progress(data);
    if (event === "wrong") throw new api.Wrong(data, 400);
    if (event === "result") result = data;
  }, signal);
  if (!result) throw new api.Wrong({ message: "the lab has stopped this work" }, 0);
  return result;
}

function progress(data) {
  $("capture-progress").hidden = !data;
  if (!data) return;
  const bar = $("capture-progress").querySelector("progress");
  [bar.max, bar.value] = [Math.max(data.total, 1), data.done];
  $("capture-progress").querySelector("span").textContent = data.words;
}

// The connections, worst first.
function list({ connections, of }) {
  $("capture-picked").hidden = connections.length < 2;
  $("capture-connection").replaceChildren(...connections.map((each) =>
    el("option", { value: each.connection }, `${each.connection}: ${each.client} – ${each.server}, ${q.amount(each.bytes)} in ${q.time(each.duration_s)}, ${each.limit}`)));
  if (connections.length < 2) return;
  const cell = (text, number) => el(number ? "td.number" : "td", {}, text);
  const rows = connections.map((each) => el("tr", { "data-connection": each.connection },
    el("td", {}, el("button.link", { type: "button", onclick: () => choose(each.connection) }, `${each.client} – ${each.server}`)),
    cell(q.amount(each.bytes), true), cell(q.time(each.duration_s), true), cell(q.time(each.lost_s), true), cell(each.limit)));
  const head = ["connection", "data", "duration", "lost time", "limit"].map((name, place) => el(place > 0 && place < 4 ? "th.number" : "th", { scope: "col" }, name));
  $("capture-list").replaceChildren(
    el("h3", {}, of > connections.length ? `The worst ${connections.length} of ${of} connections` : `${of} connections, worst first`),
    el("div.scroll", { tabIndex: 0, role: "region", ariaLabel: "Connections, worst first" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows))));
}

async function choose(connection, keep = false) {
  const key = state.capture;
  control.abort();
  control = new AbortController();
  const mine = control.signal;
  fitted = null;
  if (!keep) for (const side of state.sides) side.settings.clear();
  document.body.dataset.capture = "reading";
  $("capture-connection").value = String(connection);
  for (const row of $("capture-list").querySelectorAll("tbody tr")) row.classList.toggle("chosen", row.dataset.connection === String(connection));
  for (const name of ["capture-fit", "capture-remedies"]) $(name).replaceChildren();
  $("capture-tools").hidden = true;
  $("capture-wrong").textContent = "";
  try {
    progress({ done: 0, total: 1, words: "Reading the connection" });
    const answer = await api.capture({ key, connection }, mine);
    show(answer);
    $("capture-report").href = `api/capture/report?key=${encodeURIComponent(key)}&connection=${connection}`;
    $("capture-tools").hidden = false;
    await fit(key, connection, mine);
    await remedies(key, connection, mine);
    progress(null);
  } catch (error) {
    failed(error, mine);
  }
}

function show(answer) {
  const { verdict: found, client, server, vantage } = answer.head;
  const taken = vantage === "unknown" ? "" : `, captured ${vantage === "between" ? "between the ends" : `at the ${vantage}`}`;
  $("capture-verdict").replaceChildren(
    el("p.large", {}, found.sentence),
    el("p.hint", {}, `${client} – ${server}: ${q.amount(found.bytes)} from the ${found.from} in ${q.time(found.duration_s)}, ${q.rate((8 * found.bytes) / found.duration_s)}${taken}`),
    ...budget(found, true));
  $("capture-charts").hidden = false;
  shared.leaveAll();
  pair.load(answer);
  pair.join();
  shared.extend(0, pair.end);
  shared.zoomOut();
  document.body.dataset.captured = String(Number(document.body.dataset.captured ?? 0) + 1);
}

async function fit(key, connection, signal) {
  const found = await follow("capture/fit", { key, connection }, signal);
  if (signal.aborted) return;
  fitted = found;
  const several = found.connections.length;
  const what = several > 1 ? `the ${several} connections that share it, taken together` : "the capture";
  $("capture-fit").replaceChildren(
    el("p", {}, el("strong", {}, `The fitted path ${found.explains ? "behaves" : "does not behave"} like ${what}. `),
      `${q.rate(found.path.rate_bps)}, least RTT ${q.time(found.path.rtt_base_s)}; congestion control: ${found.congestion_control.length > 1 ? `one of ${found.congestion_control.join(", ")}` : found.congestion_control[0]}.`,
      " The graph above shows the simulated data over the captured data, and the settings change the path."),
    ...found.warnings.map((each) => el("p.hint", {}, sentence(each))));
  document.body.dataset.capture = "fitted";
  await hooks.fitted(found.book, found.flow);
}

async function remedies(key, connection, signal) {
  const found = await follow("capture/remedies", { key, connection }, signal);
  if (signal.aborted) return;
  const now = found.baseline.simulated_seconds;
  // The check is of all fitted connections: one of them may still differ.
  const took = pair.answer.head.verdict.duration_s;
  const apart = Math.abs(now - took) > 0.1 * took ? el("p.hint", {}, `Simulated, this connection takes ${q.time(now)}; captured, it took ${q.time(took)}. The seconds below are simulated.`) : null;
  const useful = found.remedies.filter((each) => each.helps), others = found.remedies.filter((each) => !each.helps);
  const group = (label, some) => (some.length ? el("div.remedies", { role: "group", ariaLabel: label }, ...some.map((each) => remedy(each, now))) : null);
  $("capture-remedies").replaceChildren(el("h3", {}, "What would help"), el("p", {}, found.verdict), ...[apart, group("Remedies", useful),
    others.length ? el("details.others", { open: !useful.length }, el("summary", {}, `${others.length} ${useful.length ? "more " : ""}without a gain in time`), group("Remedies without a gain in time", others)) : null].filter(Boolean));
  document.body.dataset.remedies = String(Number(document.body.dataset.remedies ?? 0) + 1);
}

// A button that puts a remedy onto the fitted path, and takes it off again.
function remedy(each, now) {
  const interval = each.interval && each.interval[1] - each.interval[0] > 0.01 * each.seconds ? ` (${q.time(each.interval[0])} to ${q.time(each.interval[1])})` : "";
  const then = each.seconds === null ? "nothing arrives" : `${q.time(now)} → ${q.time(each.seconds)}${interval}`;
  const how = el("details", {}, el("summary", {}, "How"), el("p", {}, each.sentence), ...(each.how.length ? [el("pre", { tabIndex: 0 }, each.how.join("\n"))] : []));
  const button = el("button.remedy", { type: "button", "aria-pressed": "false", title: each.sentence },
    el("strong", {}, each.remedy.replaceAll("-", " ")), el("span", { className: each.helps ? "good" : "" }, then));
  button.onclick = () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of $("capture-remedies").querySelectorAll("button.remedy")) press(other, false);
    press(button, on);
    state.sides[state.moving].settings = new Map(on && each.settings ? each.settings : []);
    state.text = on && each.text ? each.text : null;
    hooks.changed();
    say(on ? `${each.remedy}: applied to the simulated path` : "Back to the fitted path");
  };
  return el("div", {}, button, how);
}

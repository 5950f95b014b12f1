// Live sources: a prober's RTTs, and real programs on an emulated path.

import { follow } from "./base/api.js";
import { Chart } from "./draw/chart.js";
import { el, say } from "./base/dom.js";
import * as q from "./base/quantity.js";
import { requestOf, state } from "./base/state.js";
import * as shared from "./draw/view.js";

const COLOURS = ["data", "why-timeout", "why-nak-resend", "why-go-back-n", "edge", "ack"];
const MOST_ROWS = 50_000;
const MOST_TEXT = 200_000;
let built = false;

export function begin(place, hosts) {
  if (built) return;
  built = true;
  place.className = "watching";
  place.append(ping(), emulate(hosts.at(-1) ?? "server"), elsewhere());
}

// A form that starts and stops some work. `work(values, signal)` returns at its end.
function form(title, words, fields, work) {
  const inputs = fields.map(({ name, label, value, placeholder, wide }) =>
    ({ name, element: el(`label.ask${wide ? ".wide" : ""}`, {}, label, el("input", { type: "text", name, value: value ?? "", placeholder: placeholder ?? "", autocomplete: "off", spellcheck: false })) }));
  const go = el("button.main", { type: "submit" }, "Start");
  const stop = el("button", { type: "button", disabled: true }, "Stop");
  const wrong = el("p.wrong", { role: "alert" });
  let control = null;
  stop.onclick = () => control?.abort();
  const element = el("form", { "aria-label": title }, ...inputs.map((each) => each.element), go, stop);
  element.onsubmit = async (event) => {
    event.preventDefault();
    control = new AbortController();
    [go.disabled, stop.disabled, wrong.textContent] = [true, false, ""];
    try {
      await work(Object.fromEntries(new FormData(element)), control.signal, (message) => { wrong.textContent = message; });
    } catch (error) {
      if (error.name !== "AbortError") wrong.textContent = error.message;
    }
    [go.disabled, stop.disabled] = [false, true];
  };
  return [el("h2", {}, title), el("p.hint", {}, words), element, wrong];
}

const copying = () => {
  const code = el("code");
  const button = el("button", { type: "button", onclick: async () => { await navigator.clipboard.writeText(code.textContent); say("Command copied"); } }, "Copy command");
  return { code, element: el("p.command", { hidden: true }, code, button) };
};

// RTTs as they arrive: a chart, and a row of sums for each host.
function roundTrips() {
  const chart = new Chart({ title: "RTT", format: (value) => `${Number(value.toPrecision(3))} ms`, height: 260, about: () => "by host, since the start" });
  [chart.key, chart.element.hidden] = [() => {}, true];
  const table = el("div.scroll");
  let hosts = new Map(), begun = null;
  return {
    elements: [chart.element, table],
    clear() { [hosts, begun, chart.element.hidden] = [new Map(), null, true]; table.replaceChildren(); },
    take(data) {
      data.time_s.forEach((time, row) => {
        begun ??= time;
        if (!hosts.has(data.host[row])) hosts.set(data.host[row], { time: [], value: [] });
        const { time: times, value } = hosts.get(data.host[row]);
        if (data.event[row] === "reply" && data.rtt_ms[row] !== null) { times.push(time - begun); value.push(data.rtt_ms[row]); }
        if (times.length > MOST_ROWS) { times.splice(0, MOST_ROWS / 10); value.splice(0, MOST_ROWS / 10); }
      });
      live(chart, [...hosts].map(([name, each], place) => ({ name, colour: COLOURS[place % COLOURS.length], ...each, dots: each.time.length > 400 })));
      const ms = (value) => (value === null ? "–" : `${Number(value.toPrecision(3))} ms`);
      table.replaceChildren(grid(["host", "packets", "replies", "unanswered", "min", "mean", "p95", "max"],
        data.hosts.map((each) => [each.host === each.address ? each.host : `${each.host} (${each.address})`, q.count(each.packets), q.count(each.replies), q.count(each.unanswered), ms(each.min_ms), ms(each.mean_ms), ms(each.p95_ms), ms(each.max_ms)]), 1));
    },
  };
}

// Traffic of a host in bits per second.
function traffic(title) {
  const chart = new Chart({ title, format: q.rate, height: 220, about: () => "bits per second, in and out" });
  [chart.key, chart.element.hidden] = [() => {}, true];
  let series;
  const view = {
    elements: [chart.element],
    clear() { series = { in: { time: [], value: [] }, out: { time: [], value: [] } }; chart.element.hidden = true; },
    take(data) {
      for (const way of ["in", "out"]) { series[way].time.push(...data.time_s); series[way].value.push(...data[`${way}_bps`]); }
      live(chart, [{ name: "received", colour: "data", ...series.in }, { name: "sent", colour: "why-timeout", ...series.out }]);
    },
  };
  view.clear();
  return view;
}

function ping() {
  const trips = roundTrips(), command = copying();
  const parts = form("Probe hosts", "ICMP echo as in ‘netspurt ping’, with kernel timestamps where available.", [
    { name: "hosts", label: "Hosts", value: "127.0.0.1", wide: true },
    { name: "interval", label: "Interval", value: "0.2s" },
    { name: "length", label: "Bytes", value: "84" },
    { name: "count", label: "Count", placeholder: "no end" },
    { name: "out", label: "Parquet file", placeholder: "none" },
  ], async (values, signal, wrong) => {
    trips.clear();
    await follow("ping", values, (event, data) => {
      if (event === "began") { show(command, data.command); wrong(data.complaints.join(" ")); }
      if (event === "wrong") wrong(data.message);
      if (event === "rows") trips.take(data);
    }, signal);
  });
  return el("section", { id: "ping", "aria-label": "Probe hosts" }, ...parts, command.element, ...trips.elements);
}

function elsewhere() {
  const trips = roundTrips(), passing = traffic("Traffic at the capture point"), command = copying();
  const parts = form("Follow a file", "Follows a file that another process writes: ‘netspurt ping HOST --out FILE.parquet’, or ‘netspurt emulate SCENARIO --capture HOST=FILE.pcapng -- COMMAND’.", [
    { name: "file", label: "File", placeholder: "probe.parquet or host.pcapng", wide: true },
  ], async (values, signal, wrong) => {
    trips.clear();
    passing.clear();
    await follow("follow", values, (event, data) => {
      if (event === "began") show(command, data.command);
      if (event === "wrong") wrong(data.message);
      if (event === "rows") trips.take(data);
      if (event === "traffic") passing.take(data);
    }, signal);
  });
  return el("section", { id: "follow", "aria-label": "Follow a file" }, ...parts, command.element, ...trips.elements, ...passing.elements);
}

function emulate(last) {
  const passing = traffic("Traffic at the first host");
  const output = el("pre.output", { tabIndex: 0, ariaLabel: "Output of the command" }), table = el("div.scroll"), command = copying();
  const parts = form("Real programs on this path", "As in ‘netspurt emulate’: the chosen scenario with its changed settings connects network namespaces. Names of hosts resolve.", [
    { name: "server", label: "Server, on the last host", value: "python3 -m http.server 80", wide: true },
    { name: "command", label: "Command, on the first host", value: `ping -i 0.2 -c 50 ${last}`, wide: true },
  ], async (values, signal, wrong) => {
    passing.clear();
    output.textContent = "";
    table.replaceChildren();
    await follow("emulate", { ...requestOf(state.sides[state.moving]), ...values }, (event, data) => {
      if (event === "began") show(command, data.command);
      if (event === "wrong") wrong(data.message);
      if (event === "line") {
        output.textContent = (output.textContent + data.text).slice(-MOST_TEXT);
        output.scrollTop = output.scrollHeight;
      }
      if (event === "traffic") passing.take(data);
      if (event === "table") table.replaceChildren(...tables(data));
      if (event === "ended" && data.status !== 0) wrong(`The command exited with status ${data.status}.`);
    }, signal);
  });
  return el("section", { id: "emulate", "aria-label": "Real programs on this path" }, ...parts, command.element, ...passing.elements, output, table);
}

function tables({ links, seconds }) {
  const us = (value) => (value === null ? "–" : `${(value * 1e6).toFixed(0)} µs`);
  return [el("h3", {}, `Emulated for ${seconds.toFixed(3)} s`), grid(["link", "direction", "packets", "lost", "set rate", "actual rate", "set delay", "error, median", "error, p99"],
    links.map((each) => [each.link, each.direction.replace("->", " → "), q.count(each.packets), q.count(Object.values(each.drops).reduce((a, b) => a + b, 0)),
      q.rate(each.rate_asked_bps), q.rate(each.rate_done_bps), q.time(each.delay_asked_s), us(each.delay_error_p50_s), us(each.delay_error_p99_s)]), 2)];
}

// A table whose first `words` columns are text.
function grid(names, rows, words) {
  const cell = (tag, place, text) => el(place < words ? tag : `${tag}.number`, tag === "th" ? { scope: "col" } : {}, text);
  return el("table", {}, el("thead", {}, el("tr", {}, ...names.map((name, place) => cell("th", place, name)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((text, place) => cell("td", place, text))))));
}

function show(command, text) {
  command.element.hidden = false;
  command.code.textContent = text;
}

// A chart with its own time axis, from its first value to its last.
function live(chart, series) {
  chart.element.hidden = false;
  chart.own = { from: 0, to: Math.max(1e-3, ...series.map((each) => each.time.at(-1) ?? 0)) };
  chart.set(series);
}

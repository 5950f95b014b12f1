// The page: connects scenario, controls, runs and charts.

import * as api from "./base/api.js";
import { lay, Pictures } from "./draw/charts.js";
import * as capture from "./capture.js";
import * as controls from "./controls.js";
import { $, el, press, say } from "./base/dom.js";
import * as editor from "./editor.js";
import * as face from "./face.js";
import { numbers } from "./draw/numbers.js";
import { Player } from "./player.js";
import * as find from "./find.js";
import * as q from "./base/quantity.js";
import { Runner } from "./runner.js";
import { Scene } from "./draw/scene.js";
import { requestOf, recall, remember, shownSides, sideName, state } from "./base/state.js";
import { spreads, verdicts } from "./draw/verdict.js";
import * as shared from "./draw/view.js";
import { explain } from "./draw/why.js";
import * as words from "./base/words.js";

let held = null; // { side, row } the segment whose reason is shown while the pointer is on no other
let scenes = [];
const shownScenes = () => shownSides().map((_, number) => scenes[number]);
let player;

function showSegment(number, row, hold = false) {
  if (hold) held = { number, row };
  const shown = row === null ? held : { number, row };
  const answer = shown && state.sides[shown.number].answer;
  const name = state.comparing && shown ? `${"AB"[shown.number]}: ` : "";
  const known = Boolean(answer) && shown.row < answer.columns.time?.length;
  $("why").replaceChildren(...(known ? explain(answer, shown.row, name) : []));
  $("why").classList.toggle("empty", !known);
}

export const pictures = [0, 1].map((number) => new Pictures("AB"[number], (row) => showSegment(number, row), (row) => showSegment(number, row, true)));
const runners = [0, 1].map((number) => new Runner("AB"[number], api.run, (answer) => arrived(number, answer), (error) => failed(number, error)));
const spreaders = [0, 1].map((number) => new Runner(`${"AB"[number]}/seeds`, api.seeds, (answer) => spread(number, answer), (error) => failed(number, error)));

// A run has arrived.
function arrived(number, answer) {
  state.sides[number].answer = answer;
  if (number >= shownSides().length) return;
  wrong(null);
  if (number === state.moving) controls.show(answer.head.values);
  draw();
  if (state.seeds > 1) spreaders[number].ask({ ...requestOf(state.sides[number]), connection: answer.head.chosen, seeds: state.seeds });
}

// The runs of several seeds have arrived.
function spread(number, answer) {
  state.sides[number].spread = answer;
  const sides = shownSides();
  if (number >= sides.length) return;
  pictures[number].shade(answer, shared.view.end);
  if (sides.every((side) => side.spread)) $("spread").replaceChildren(...spreads(sides.map((side) => side.spread)));
  document.body.dataset.spread = String(Number(document.body.dataset.spread ?? 0) + 1);
}

function draw() {
  const answers = shownSides().map((side) => side.answer);
  if (answers.some((answer) => !answer)) return;
  const begun = performance.now();
  const [begin, last] = life(answers);
  capture.align(answers[0]);
  const end = Math.max(last, capture.end());
  shared.extend(begin, end);
  held = null;
  $("spread").replaceChildren();
  answers.forEach((answer, number) => {
    pictures[number].load(answer, end);
    if (state.sides[number].spread) pictures[number].shade(state.sides[number].spread, end);
    if (answer.columns.time) scenes[number].load(answer);
  });
  capture.simulated(answers[0]);
  // Common limits of two sides are known when both are loaded.
  if (answers.length > 1) shared.redraw();
  $("verdict").replaceChildren(...verdicts(answers));
  $("numbers").replaceChildren(numbers(answers));
  connections(answers[0].head);
  showSegment(0, null);
  const flights = answers.map((_, number) => scenes[number].quickest?.[1][1] ?? 1);
  player.load(answers.map((answer) => answer.columns.time ?? new Float64Array()), begin, end, Math.max(...flights));
  $("which").textContent = answers.map(({ head, ms }) => `digest ${head.digest}, ${Math.round(ms)} ms`).join(" · ");
  // The time from the request to the frame with all charts.
  requestAnimationFrame(() => {
    document.body.dataset.redraw = (Math.max(...answers.map(({ ms }) => ms)) + performance.now() - begun).toFixed(1);
    document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1);
  });
}

// The first and the last event of the visible connections; a run may be much longer.
function life(answers) {
  const spans = answers.map(({ head, columns }) => {
    const time = columns.time;
    if (!time?.length) return [0, head.active_s];
    const last = time.at(-1), arrived = columns.arrives.at(-1);
    return [time[0], arrived > last ? arrived : last];
  });
  const [first, end] = [Math.min(...spans.map(([from]) => from)), Math.max(...spans.map(([, to]) => to), 1e-12)];
  return [first < end / 4 ? 0 : first - (end - first) / 50, end];
}

function connections(head) {
  $("connection-field").hidden = head.connections.length < 2;
  const name = ({ flow, index, connection }) => `${flow} ${index}, connection ${connection}`;
  $("connection").replaceChildren(...head.connections.map((each) =>
    el("option", { value: JSON.stringify([each.flow, each.index, each.connection]) }, `${name(each)} (${q.amount(each.bytes)})`)));
  $("connection").value = JSON.stringify(head.chosen);
}

function failed(number, error) {
  if (number >= shownSides().length) return;
  wrong(error, number);
}

// Shows an error: at its control, at its line of the text, and above the charts.
function wrong(error, number = state.moving) {
  const details = error?.details ?? null;
  controls.mark(details?.path && number === state.moving ? details.path : null, details?.message ?? "");
  editor.point(details?.line);
  $("wrong").hidden = !details;
  $("stage").classList.toggle("stale", Boolean(details));
  if (!details) return;
  const side = state.comparing ? `${"AB"[number]}: ` : "";
  const place = details.line ? `line ${details.line}, column ${details.column}: ` : details.path ? `${details.path}: ` : "";
  $("wrong").replaceChildren(el("p", {}, el("strong", {}, `${side}${place}`), details.message),
    ...(details.line ? [el("button", { type: "button", onclick: () => { open(true); editor.go(details.line, details.column); } }, "Show line")] : []),
    ...(details.path ? [el("button", { type: "button", onclick: () => { state.sides[number].settings.delete(details.path); moved(); } }, "Undo")] : []));
}

// A setting changed; a common one changes both sides.
function moved(all = false) {
  remember();
  for (const [number, side] of shownSides().entries()) {
    if (!all && number !== state.moving && side.answer) continue;
    side.spread = null;
    spreaders[number].stop();
    runners[number].ask(requestOf(side));
  }
}

// Another scenario, or another text of it.
async function load(anew) {
  const body = { key: state.key, settings: [...state.sides[state.moving].settings] };
  if (state.text !== null) body.text = state.text;
  let answer;
  try {
    answer = await api.scenario(body);
    // A changed path may not exist in this text.
    if (answer.error?.path) answer = { ...(await api.scenario({ ...body, settings: [] })), late: answer.error };
  } catch (error) {
    wrong(error);
    return;
  }
  if (anew) editor.show(answer.text);
  state.hosts = answer.hosts ?? [];
  if (answer.error) {
    wrong(new api.Wrong(answer.error, 422));
    open(true);
    return;
  }
  wrong(null);
  const plain = state.sides[0].settings.size + state.sides[1].settings.size === 0 ? answer : await api.scenario({ ...body, settings: [] });
  controls.build(plain.groups ?? answer.groups, plain.values ?? answer.values, () => moved());
  find.again();
  for (const side of state.sides) side.answer = null;
  moved(true);
}

function open(shown) {
  $("editor").hidden = !shown;
  press($("edit"), shown);
}

function compare(on) {
  state.comparing = on;
  if (on && state.sides[1].settings.size === 0) state.sides[1].settings = new Map(state.sides[0].settings);
  state.moving = on ? 1 : 0;
  arrange();
  moved(true);
}

// Shows one setting or two.
function arrange() {
  press($("compare"), state.comparing);
  $("sides").hidden = !state.comparing;
  for (const button of $("sides").children) press(button, Number(button.dataset.side) === state.moving);
  scenes = shownSides().map((_, number) => scenes[number] ?? null);
  scenes = shownSides().map((_, number) => new Scene(state.comparing ? "AB"[number] : "", (row) => showSegment(number, row)));
  $("scenes").replaceChildren(...scenes.map((scene) => scene.element));
  lay($("charts"), shownSides().map((_, number) => pictures[number]));
  capture.join();
  shared.zoomOut();
}

async function copy(what, text) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    // Without access to the clipboard, shows a field to copy from.
    const area = el("textarea", { value: text, readOnly: true, ariaLabel: what });
    $("said").replaceChildren(area);
    $("said").classList.add("shown");
    area.select();
  }
}

// Saves what is shown as one file.
async function save() {
  $("save-report").disabled = true;
  say("Writing the report …");
  try {
    const { text, name } = await api.report(shownSides().map(requestOf), state.seeds);
    const address = URL.createObjectURL(new Blob([text], { type: "text/html" }));
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    say(`${name} saved`);
  } catch (error) {
    wrong(error);
  }
  $("save-report").disabled = false;
}

function wire(books) {
  const groups = new Map();
  for (const book of books) groups.set(book.group, [...(groups.get(book.group) ?? []), book]);
  $("scenario").append(...[...groups].map(([label, all]) =>
    el("optgroup", { label }, ...all.map((book) => el("option", { value: book.key }, book.name)))));
  $("scenario").onchange = () => {
    const key = $("scenario").value;
    Object.assign(state, { key, text: null, connection: null });
    if (capture.isCapture(key)) { capture.open(key); return; }
    capture.close();
    for (const side of state.sides) side.settings.clear();
    shared.zoomOut();
    load(true);
  };
  $("seed").onchange = () => { state.seed = Math.max(0, Math.floor(Number($("seed").value) || 0)); moved(true); };
  $("seeds").onchange = () => { state.seeds = Number($("seeds").value); moved(true); };
  $("connection").onchange = () => { state.connection = JSON.parse($("connection").value); moved(true); };
  $("compare").onclick = () => compare(!state.comparing);
  $("edit").onclick = () => open($("editor").hidden);
  for (const button of $("sides").children) {
    button.onclick = () => {
      state.moving = Number(button.dataset.side);
      for (const each of $("sides").children) press(each, each === button);
      const answer = state.sides[state.moving].answer;
      if (answer) controls.show(answer.head.values);
    };
  }
  const current = () => state.sides[state.moving].answer?.head;
  const which = () => (state.comparing ? ` of ${sideName(state.sides[state.moving])}` : "");
  $("copy-command").onclick = () => current() && copy(`Command${which()}`, current().command);
  $("copy-scenario").onclick = () => current() && copy(`Scenario${which()}`, current().scenario);
  $("save-report").onclick = save;
  $("to-simulate").onclick = () => turn("simulate");
  $("to-watch").onclick = () => turn("watch");
  find.begin();
  editor.begin(() => load(false), () => { state.text = null; load(true); });
}

// A capture in the list of scenarios.
function listed({ key, name }) {
  let group = $("scenario").querySelector("optgroup[label=Captures]");
  if (!group) $("scenario").prepend(group = el("optgroup", { label: "Captures" }));
  if (![...group.children].some((option) => option.value === key)) group.append(el("option", { value: key }, name));
  $("scenario").value = key;
}

// The fitted path of a capture takes the place of the scenario.
async function fitted(key, flow) {
  Object.assign(state, { key, text: null, connection: [flow, 0, 0] });
  arrange();
  await load(true);
}

async function turn(to) {
  for (const each of ["simulate", "watch"]) {
    $(each).hidden = each !== to;
    press($(`to-${each}`), each === to);
  }
  document.body.dataset.shown = to;
  if (to === "watch") (await import("./watch.js")).begin($("watch"), state.hosts);
}

async function begin() {
  player = new Player(() => shownScenes().filter(Boolean));
  face.begin(() => { for (const side of pictures) for (const chart of side.all) chart.plot?.redraw(); player.go(player.moment); });
  let answer;
  try {
    answer = await api.shelf();
  } catch (error) {
    wrong(error);
    return;
  }
  words.learn(answer.reasons);
  words.learnLimits(answer.limits);
  face.paint([...words.reasons, ...words.limits]);
  recall();
  const captures = answer.captures.map((each) => each.key);
  const kept = [...answer.books.map((book) => book.key), ...captures].includes(state.key);
  if (!kept) {
    state.key = captures[0] ?? answer.books[0].key;
    for (const side of state.sides) side.settings.clear();
  }
  wire(answer.books.filter((book) => book.group !== "Fitted"));
  answer.captures.forEach(listed);
  $("scenario").value = state.key;
  $("seed").value = state.seed;
  $("seeds").value = state.seeds;
  state.moving = state.comparing ? 1 : 0;
  capture.begin({ listed, fitted, changed: () => load(true), copy });
  arrange();
  if (capture.isCapture(state.key)) await capture.open(state.key, kept);
  else await load(true);
}

begin();

// The settings at the left: a slider and a field for each quantity, a list for each choice, its parameters below it.

import { $, el } from "./base/dom.js";
import { format, parse, Toml, toml } from "./base/quantity.js";
import { state } from "./base/state.js";

const STEPS = 400;
const SPAN = 40; // a slider spans a fortieth to forty times the scenario's value
const ZERO_SPAN = { time: 0.2, null: 1 };

let widgets = new Map(); // path -> { show(value), mark(words) }
let origin = {}; // values of the scenario before any change
let changed = () => {};

// Builds all controls. `onchange` is called after each change.
export function build(groups, values, onchange) {
  widgets = new Map();
  origin = values;
  changed = onchange;
  $("controls").replaceChildren(...groups.map(group));
  show(values);
}

// Sets all controls to the values of a run.
export function show(values) {
  for (const [path, widget] of widgets) {
    widget.show(path in values ? values[path] : null);
    widget.element.classList.toggle("moved", state.sides[state.moving].settings.has(path));
  }
}

// Shows an error at the control of its path; without a path, clears all errors.
export function mark(path, words) {
  let found = false;
  for (const [each, widget] of widgets) {
    const here = path !== null && (path === each || path?.startsWith(`${each}.`));
    widget.element.classList.toggle("bad", here);
    widget.complaint.textContent = here ? words : "";
    found ||= here;
  }
  return found;
}

function group({ title, words, controls, open }) {
  const first = controls.filter((control) => control.first);
  const rest = controls.filter((control) => !control.first);
  const more = rest.length
    ? [el("details.more", {}, el("summary", {}, `${rest.length} more keys`), ...rest.map(widget))]
    : [];
  return el("details.group", { open },
    el("summary", {}, el("h2", {}, title), words ? el("small", {}, words) : null),
    ...first.map(widget), ...more);
}

function widget(control) {
  const make = { quantity, choice, truth }[control.form];
  const made = control.directions ? directed(control, make)
    : make(control, idOf(control.path), origin[control.path], (value) => put(control.path, value));
  const reset = el("button.reset", { type: "button", title: "Reset to the scenario's value", ariaLabel: `${control.path}: reset to the scenario's value`,
    onclick: () => { state.sides[state.moving].settings.delete(control.path); changed(); } }, "↺");
  const complaint = el("p.complaint", { role: "alert" });
  const title = [control.summary, control.document].filter(Boolean).join("\n");
  const name = el("label", { htmlFor: made.id, title }, control.label.replaceAll("_", " "));
  const element = el("div.control", { "data-path": control.path }, el("div.line", {}, name, made.toggle ? el("span.tools", {}, made.toggle, reset) : reset, made.field), made.below, complaint);
  widgets.set(control.path, { ...made, element, complaint });
  return element;
}

const idOf = (path) => `control-${path.replaceAll(".", "-")}`;

function put(path, value) {
  state.sides[state.moving].settings.set(path, toml(value));
  changed();
}

// A control of one value for both directions of a link, or of one for each.
function directed(control, make) {
  const id = idOf(control.path);
  const field = el("span.place"), below = el("div.below");
  let values = origin[control.path], parts = [];
  const toggle = el("button.each", { type: "button", title: "A value for each direction, or one for both", ariaLabel: `${control.path}: a value for each direction`, onclick: () => {
    put(control.path, Array.isArray(values) ? values[0] : [values, values]);
  } }, "⇄");
  const lay = () => {
    if (!Array.isArray(values)) {
      parts = [make(control, id, values, (value) => put(control.path, value))];
      field.replaceChildren(parts[0].field);
      below.replaceChildren(...[parts[0].below].filter(Boolean));
      return;
    }
    parts = control.directions.map((name, place) => make({ ...control, label: `${control.label}, ${name}` }, place ? `${id}-${place}` : id, values[place],
      (value) => put(control.path, values.map((each, other) => (other === place ? value : each)))));
    field.replaceChildren();
    below.replaceChildren(...parts.map((part, place) =>
      el("div.control.inner", {}, el("div.line", {}, el("label", { htmlFor: part.id }, control.directions[place]), part.field), part.below)));
  };
  const showValue = (value) => {
    const before = Array.isArray(values);
    // A scenario file writes two equal values as one.
    const split = Array.isArray(value) || (state.sides[state.moving].settings.get(control.path) ?? "").startsWith("[");
    values = split && !Array.isArray(value) ? [value, value] : value;
    if (before !== split || parts.length === 0) lay();
    toggle.hidden = value === null || value === undefined;
    toggle.setAttribute("aria-pressed", String(split));
    if (split) parts.forEach((part, place) => part.show(values[place])); else parts[0].show(values);
  };
  lay();
  return { id, toggle, field, below, show: showValue };
}

function quantity(control, id, begin, send) {
  const { field, slider, show: showValue } = valued(id, control.label, begin, send);
  return { id, field, below: slider, show: showValue };
}

// A text field and a slider for one value.
function valued(id, label, begin, moved) {
  const name = label.replaceAll("_", " ");
  const field = el("input.value", { id, type: "text", autocomplete: "off", spellcheck: false, "aria-label": name });
  const slider = el("input", { type: "range", min: 0, max: STEPS, step: 1, "aria-label": `${name}, slider` });
  let scale = null;
  const rescale = (value) => {
    const read = parse(value);
    const usable = read !== null;
    slider.hidden = !usable;
    if (!usable) { scale = null; return; }
    if (scale && scale.family?.name === read.family?.name && within(scale, read.value)) return;
    scale = scaleOf(read);
  };
  rescale(begin);
  slider.oninput = () => {
    const value = valueAt(scale, slider.value / STEPS);
    const text = format(value, scale.family);
    field.value = text;
    moved(scale.family ? text : Number(text));
  };
  field.onchange = () => {
    const text = field.value.trim();
    // A table, such as a distribution of the delay.
    if (text.startsWith("{")) { moved(new Toml(text)); return; }
    moved(text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text === "true" || text === "false" ? text === "true" : text);
  };
  const showValue = (value) => {
    rescale(value);
    const read = parse(value);
    if (document.activeElement !== field) field.value = value === null || value === undefined ? "" : typeof value === "object" ? toml(value) : String(value);
    if (read && scale && document.activeElement !== slider) slider.value = STEPS * placeOf(scale, read.value);
    if (scale) slider.setAttribute("aria-valuetext", field.value);
  };
  return { field, slider, show: showValue };
}

function scaleOf({ value, family }) {
  if (value === 0) return { family, low: 0, high: ZERO_SPAN[family?.name ?? null] ?? 1, log: false };
  const whole = family?.whole || (family === null && Number.isInteger(value));
  const low = whole ? Math.max(1, value / SPAN) : value / SPAN;
  const probability = family === null && !whole;
  const wide = probability && value < 0.01 ? SPAN * SPAN : SPAN;
  return { family, low: probability ? value / wide : low, high: probability ? Math.min(1, value * wide) : Math.max(value * SPAN, whole ? 64 : 0), log: true, whole };
}
const within = ({ low, high }, value) => value >= low && value <= high;
function valueAt({ low, high, log, whole }, place) {
  const value = log ? low * (high / low) ** place : low + place * (high - low);
  return whole ? Math.round(value) : value;
}
const placeOf = ({ low, high, log }, value) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));

function truth(control, id, begin, send) {
  const field = el("input", { id, type: "checkbox", onchange: () => send(field.checked) });
  return { id, field, below: null, show: (value) => { field.checked = value === true; } };
}

// A choice is a name, or a table with its name as `kind` and its parameters.
function choice(control, id, begin, give) {
  const field = el("select", { id });
  const summary = el("p.summary");
  const parameters = el("div.parameters");
  const optional = begin === null || begin === undefined;
  if (optional) field.append(el("option", { value: "" }, "–"));
  for (const each of control.choices) {
    field.append(el("option", { value: each.name, title: [each.summary, each.document].filter(Boolean).join("\n") }, each.name));
  }
  let current = null; // the choice whose parameters are shown
  let table = {};
  let fields = new Map();
  const send = () => {
    const named = Object.keys(table).length === 0 && typeof begin === "string" ? current : { kind: current, ...table };
    give(named);
  };
  const lay = (name) => {
    current = name;
    fields = new Map();
    const chosen = control.choices.find((each) => each.name === name);
    summary.textContent = chosen?.summary ?? "";
    parameters.replaceChildren(...(chosen?.parameters ?? []).filter((each) => each.unit !== "direction").map((each) => {
      const inner = `${id}-${each.name}`;
      const begins = table[each.name] ?? each.default ?? each.start;
      const made = valued(inner, `${control.label} ${each.name}`, begins, (value) => {
        if (value === "") delete table[each.name]; else table[each.name] = value;
        send();
      });
      fields.set(each.name, (value) => made.show(value ?? each.default));
      return el("div.control.inner", {}, el("div.line", {}, el("label", { htmlFor: inner, title: each.summary }, each.name.replaceAll("_", " ")), made.field), made.slider);
    }));
  };
  field.onchange = () => {
    if (field.value === "") { state.sides[state.moving].settings.delete(control.path); changed(); return; }
    const chosen = control.choices.find((each) => each.name === field.value);
    table = Object.fromEntries(chosen.parameters.filter((each) => each.start !== null).map((each) => [each.name, each.start]));
    lay(field.value);
    send();
  };
  const showValue = (value) => {
    const name = value !== null && typeof value === "object" ? value.kind : value ?? "";
    const { kind: _, ...given } = value !== null && typeof value === "object" ? value : {};
    table = given;
    field.value = name;
    if (name !== current) lay(name);
    for (const [key, showPart] of fields) showPart(table[key]);
  };
  return { id, field, below: el("div.below", {}, summary, parameters), show: showValue };
}

// The scenario's text, with a mark at the line of an error.

import { $, el } from "./base/dom.js";
import { state } from "./base/state.js";

const PAUSE_MS = 250;
let timer = 0;
let broken = null;

export function begin(onchange, ondiscard) {
  const text = $("text");
  text.addEventListener("input", () => {
    state.text = text.value;
    number();
    clearTimeout(timer);
    timer = setTimeout(onchange, PAUSE_MS);
  });
  text.addEventListener("scroll", () => { $("lines").scrollTop = text.scrollTop; });
  $("discard").onclick = ondiscard;
}

export function show(text) {
  if ($("text").value !== text) $("text").value = text;
  number();
}

// Marks a line, or clears the mark.
export function point(line) {
  broken = line ?? null;
  number();
}

// Puts the cursor at the error.
export function go(line, column) {
  const lines = $("text").value.split("\n");
  const place = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + (column ?? 1) - 1;
  $("text").focus();
  $("text").setSelectionRange(place, place);
  $("text").scrollTop = Math.max(0, (line - 5) * 18);
}

function number() {
  const count = $("text").value.split("\n").length;
  $("lines").replaceChildren(...Array.from({ length: count }, (_, place) =>
    el(place + 1 === broken ? "span.broken" : "span", {}, String(place + 1))));
}

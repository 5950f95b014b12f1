// A search over all settings: by name, path, and what they mean.

import { $ } from "./base/dom.js";

export function begin() {
  $("find").oninput = again;
}

// Applies the words of the field to the controls that are there now.
export function again() {
  const words = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...$("controls").querySelectorAll(".control:not(.inner)")];
  let count = 0;
  for (const control of all) {
    const label = control.querySelector("label");
    const text = `${control.dataset.path} ${label.textContent} ${label.title}`.toLowerCase();
    const fits = words.every((word) => text.includes(word));
    control.hidden = !fits;
    count += fits;
  }
  for (const group of $("controls").querySelectorAll("details")) {
    const any = group.querySelector(".control:not(.inner):not([hidden])");
    group.hidden = !any;
    // What was open before the search is open again after it.
    if (words.length && group.dataset.before === undefined) group.dataset.before = String(group.open);
    if (words.length) group.open = true;
    else if (group.dataset.before !== undefined) {
      group.open = group.dataset.before === "true";
      delete group.dataset.before;
    }
  }
  $("found").textContent = words.length ? `${count} of ${all.length} settings` : "";
}

// The dark and the light theme, and colours from the server.

import { $, press } from "./base/dom.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
let redraw = () => {};

export function begin(onchange) {
  redraw = onchange;
  const kept = localStorage.getItem("netspurt-face");
  set(kept ?? (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", () => { if (!localStorage.getItem("netspurt-face")) set(dark.matches ? "dark" : "light"); });
  $("face").onclick = () => {
    const next = document.documentElement.dataset.face === "dark" ? "light" : "dark";
    localStorage.setItem("netspurt-face", next);
    set(next);
  };
}

function set(name) {
  document.documentElement.dataset.face = name;
  press($("face"), name === "dark");
  redraw();
}

// A colour for each reason of a retransmission, and for each limit; lighter on a dark background.
export function paint(described) {
  const lines = (mix) => described.filter((each) => each.colour).map((each) => `--${each.paint}: ${mixed(each.colour, mix)};`).join(" ");
  const style = document.createElement("style");
  style.textContent = `:root { ${lines(0)} } :root[data-face="dark"] { ${lines(0.42)} }`;
  document.head.append(style);
}

function mixed(hex, white) {
  const parts = [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
  return `rgb(${parts.map((each) => Math.round(each + (255 - each) * white)).join(" ")})`;
}

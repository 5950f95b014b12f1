// One chart: uPlot provides axes, zoom and cursor; marks are drawn here. Series may have different times.

import uPlot from "../../vendor/uPlot.esm.js";
import { area, extent, line, lowerBound, visible } from "./draw.js";
import { colour, el } from "../base/dom.js";
import * as shared from "./view.js";
import { view } from "./view.js";

// Steps of an axis that counts bytes.
const BINARY = Array.from({ length: 50 }, (_, power) => 2 ** power);

const ratio = () => window.devicePixelRatio || 1;

export class Chart {
  // title, format (number to text), height; `series` is a list of { name, colour, time, value, steps, dash, width, hidden },
  // or for a band { name, colour, time, low, high, hidden };
  // `least` is a value that the axis always includes.
  constructor({ title, format, height, about = () => "", least = 0, binary = false }) {
    this.title = title;
    this.format = format;
    this.about = about;
    this.least = least;
    this.steps = binary ? BINARY : undefined;
    this.series = [];
    this.limits = null;
    this.legend = el("div.legend");
    this.own = null; // a time range of this chart alone
    this.place = el("div.plot", { tabIndex: 0, role: "img", onkeydown: (event) => this.key(event) });
    this.element = el("figure.chart", {}, el("figcaption", {}, el("h3", {}, title), this.legend), this.place);
    this.height = height;
  }

  key(event) { shared.key(event); }

  get span() { return this.own ?? view; }

  // New data, drawn at once.
  set(series) {
    // What was hidden or shown by hand stays so.
    const before = new Map(this.series.map((each) => [each.name, each.hidden]));
    this.series = series.map((each) => ({ ...each, hidden: before.get(each.name) ?? each.hidden ?? false }));
    this.#label();
    if (!this.plot) this.#make();
    this.fit();
  }

  fit() {
    if (!this.plot) return;
    this.plot.setScale("x", { min: this.span.from, max: this.span.to });
    this.place.setAttribute("aria-label", `${this.title}. ${this.about()}`);
  }

  // The visible series.
  shown() { return this.series.filter((each) => !each.hidden); }

  range(from, to) { return extent(this.shown().flatMap(bounds), from, to); }

  // Another chart of the same quantity, which shares its limits.
  twin(other) { this.partner = other; }

  #limits() {
    const { from: begin, to: end } = this.span;
    const mine = this.range(begin, end);
    const theirs = this.partner?.range(begin, end);
    const both = [mine, theirs].filter(Boolean);
    if (!both.length) return [0, 1];
    const low = Math.min(this.least, ...both.map(([low]) => low)), high = Math.max(...both.map(([, high]) => high));
    const from = this.tight ? Math.min(...both.map(([low]) => low)) : low;
    const room = (high - from || high || 1) * 0.06;
    return [this.tight || from < 0 ? from - room : from, high + room];
  }

  #make() {
    const ink = () => colour("soft");
    const grid = { stroke: () => colour("grid"), width: 1 };
    const font = `${11}px system-ui, sans-serif`;
    this.plot = new uPlot({
      width: this.width(), height: this.height, legend: { show: false }, padding: [8, 22, 0, 0],
      scales: { x: { time: false }, y: { range: () => this.#limits() } },
      series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
      axes: [
        { stroke: ink, font, grid, ticks: { ...grid, size: 4 }, size: 26, gap: 3, values: (_, ticks) => ticks.map((tick, place) => stamp(tick, ticks, place)) },
        { stroke: ink, font, grid, ticks: { show: false }, size: 66, gap: 6, space: 34, incrs: this.steps, values: (_, ticks) => ticks.map(this.format) },
      ],
      cursor: { y: false, points: { show: false }, drag: { setScale: false, x: true, y: false }, sync: { key: this.own ? undefined : "lab", setSeries: false, scales: ["x", null] },
        bind: { dblclick: () => () => { shared.zoomOut(); return null; } } },
      hooks: {
        draw: [(plot) => this.draw(plot)],
        setSelect: [(plot) => this.#select(plot)],
        setCursor: [(plot) => this.#showValues(plot)],
      },
    }, [[0, 1], [null, null]], this.place);
    this.place.addEventListener("pointerdown", () => { Chart.dragged = this; }, true);
    this.line = el("div.moment");
    this.plot.over.append(this.line);
    new ResizeObserver(() => {
      const width = this.width();
      if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.height });
      this.mark();
    }).observe(this.place);
    if (!this.own) shared.join(this);
  }

  width() { return Math.floor(this.place.clientWidth) || 480; }

  #select(plot) {
    const { left, width } = plot.select;
    const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    // Charts that share the cursor share the selection; the source chart has the exact values.
    if (width >= 4 && Chart.dragged === this && !this.own) shared.zoom(from, to);
  }

  // Marks the player's time.
  mark() {
    if (!this.plot) return;
    const at = view.moment === null || view.moment <= view.begin || this.own ? -1 : this.plot.valToPos(view.moment, "x");
    this.line.hidden = at < 0 || at > this.plot.over.clientWidth;
    this.line.style.transform = `translateX(${at}px)`;
  }

  draw(plot) {
    const context = plot.ctx, box = plot.bbox;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    this.marks(context, (value) => plot.valToPos(value, "x", true), (value) => plot.valToPos(value, "y", true));
    context.restore();
    this.mark();
  }

  marks(context, x, y) {
    for (const series of this.shown()) {
      if (series.low) {
        context.fillStyle = colour(series.colour);
        context.globalAlpha = 0.2;
        area(context, series, visible(series.time, this.span.from, this.span.to), x, y);
        context.globalAlpha = 1;
        continue;
      }
      context.strokeStyle = colour(series.colour);
      context.lineWidth = (series.width ?? 1.6) * ratio();
      context.lineJoin = "round";
      context.setLineDash((series.dash ?? []).map((each) => each * ratio()));
      const span = visible(series.time, this.span.from, this.span.to);
      if (series.dots) dots(context, series, span, x, y);
      else line(context, series.time, series.value, span, x, y, series.steps, Math.min(this.span.to, series.until ?? this.span.to));
    }
    context.setLineDash([]);
  }

  // A button for each series, which hides it, and its value at the cursor.
  #label() {
    if (this.legend.childElementCount === this.series.length && this.series.every((each, place) => this.legend.children[place].dataset.name === each.name)) return;
    this.legend.replaceChildren(...this.series.map((each) => {
      const button = el("button.key", { type: "button", "data-name": each.name, ariaPressed: String(!each.hidden), title: "Show or hide" },
        swatch(each), el("span", {}, each.name), each.sign ? null : el("output", {}));
      button.onclick = () => {
        const series = this.series.find(({ name }) => name === each.name);
        series.hidden = !series.hidden;
        button.setAttribute("aria-pressed", String(!series.hidden));
        this.plot.redraw();
        this.fit();
      };
      return button;
    }));
  }

  #showValues(plot) {
    const at = plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : null;
    for (const [place, series] of this.series.entries()) {
      const output = this.legend.children[place]?.querySelector("output");
      if (!output) continue;
      const row = at === null ? -1 : lowerBound(series.time, at) - 1;
      output.textContent = row < 0 ? "" : bounds(series).map(({ value }) => value[row]).filter(Number.isFinite).map(this.format).join(" – ");
    }
    this.point?.(plot);
  }
}

// The lines that limit a series: a band has two.
const bounds = (series) => (series.low ? [series.low, series.high].map((value) => ({ time: series.time, value })) : [series]);

function dots(context, series, [begin, end], x, y) {
  const size = 2.2 * ratio();
  context.fillStyle = colour(series.colour);
  let last = NaN;
  for (let place = begin; place < end; place++) {
    const here = Math.round(x(series.time[place])), there = Math.round(y(series.value[place]));
    if (here * 65536 + there === last) continue;
    last = here * 65536 + there;
    context.fillRect(here - size / 2, there - size / 2, size, size);
  }
}

function swatch({ colour: name, dash, dots: dotted, sign: shape, low }) {
  const sign = el("i.swatch", { ariaHidden: "true" });
  if (low) {
    sign.style.cssText = `height: .6rem; background: var(--${name}); opacity: .35`;
    return sign;
  }
  if (shape) {
    sign.style.cssText = `width: .6rem; height: .6rem; background: var(--${name}); clip-path: ${CLIPS[shape]}`;
    return sign;
  }
  sign.style.borderTop = `${dotted ? 3 : 2}px ${dotted ? "dotted" : dash ? "dashed" : "solid"} var(--${name})`;
  return sign;
}

// The shapes of draw.js as CSS.
const CLIPS = {
  up: "polygon(50% 0, 100% 100%, 0 100%)", down: "polygon(50% 100%, 100% 0, 0 0)", diamond: "polygon(50% 0, 90% 50%, 50% 100%, 10% 50%)",
  square: "none", bar: "inset(0 36%)",
  cross: "polygon(0 18%, 18% 0, 50% 32%, 82% 0, 100% 18%, 68% 50%, 100% 82%, 82% 100%, 50% 68%, 18% 100%, 0 82%, 32% 50%)",
};

// Ticks of time with only the digits that distinguish them; the unit appears once.
function stamp(tick, ticks, place) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  const greatest = Math.max(...ticks.map(Math.abs));
  const [factor, unit] = greatest >= 1 || greatest === 0 ? [1, "s"] : greatest >= 1e-3 ? [1e-3, "ms"] : greatest >= 1e-6 ? [1e-6, "µs"] : [1e-9, "ns"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9));
  const text = (tick / factor).toFixed(Math.min(digits, 12));
  return place === ticks.length - 1 ? `${text} ${unit}` : text;
}

// Draws the charts of a report. uPlot provides axes, zoom and cursor. Traces are drawn here, because a chart of
// segments needs strokes, staircases and markers that differ in grey too. No network, no storage, no global names.
(() => {
  "use strict";
  // Colours for print, and their forms on a dark background.
  const DARK = {
    "#0b5fa5": "#6db3f2", "#c45a00": "#f0a35e", "#1b7837": "#6fcf8f", "#b2182b": "#ff8b98", "#762a83": "#cf9fe6",
    "#666666": "#a8adb3", "#000000": "#ececea", "#999999": "#7d838a", "#575757": "#b8b8b6",
  };
  const all = [];
  const dark = () => getComputedStyle(document.documentElement).getPropertyValue("color-scheme").trim() === "dark"
    || (!document.documentElement.dataset.face && matchMedia("(prefers-color-scheme: dark)").matches);
  const ink = (colour) => (dark() ? DARK[colour] ?? colour : colour);
  const css = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

  // Numbers are little-endian doubles in base64: exact, and fast to read.
  const numbers = (text) => {
    if (!text) return null;
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Float64Array(bytes.buffer);
  };

  // The first index whose x is at least (or, with `behind`, larger than) a value.
  const place = (x, value, behind = false) => {
    let low = 0, high = x.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (x[middle] < value || (behind && x[middle] === value)) low = middle + 1; else high = middle;
    }
    return low;
  };

  // The visible part of a trace, and one more point on either side for its lines.
  const seen = (trace, from, until) => {
    const low = place(trace.x, from), high = place(trace.x, until, true);
    return trace.shape === "points" || trace.shape === "strokes"
      ? [low, high] : [Math.max(low - 1, 0), Math.min(high + 1, trace.x.length)];
  };

  // The y range of the visible data, over all charts with a shared range.
  const reach = (chart, from, until) => {
    let low = Infinity, high = -Infinity;
    const alike = chart.alike ? all.filter((other) => other.group === chart.group) : [chart];
    for (const trace of (alike.length ? alike : [chart]).flatMap((other) => other.traces)) {
      if (trace.hidden) continue;
      const [first, last] = seen(trace, from, until);
      for (const column of trace.low ? [trace.y, trace.low] : [trace.y]) {
        for (let i = first; i < last; i++) {
          const value = column[i];
          if (value < low && (chart.y.scale !== "log" || value > 0)) low = value;
          if (value > high && value < Infinity) high = value;
        }
      }
    }
    if (chart.y.names.length) return [-0.6, chart.y.names.length - 0.4];
    if (low > high) return [0, 1];
    if (chart.y.top) high = Math.min(high, chart.y.top);
    if (chart.y.scale === "log") return [low / 1.1, high * 1.1];
    // Ranges that differ only in their last digits count as equal.
    if (high - low < Math.abs(high) * 1e-5) { const room = Math.abs(high) * 0.05 || 1; return [low - room, high + room]; }
    const room = (high - low) * 0.05;
    return [low >= 0 && low < high / 5 ? 0 : low - room, high + room];
  };

  const SHAPES = {
    "o": (p, x, y, r) => { p.moveTo(x + r, y); p.arc(x, y, r, 0, 7); },
    ".": (p, x, y, r) => { p.moveTo(x + r * .45, y); p.arc(x, y, r * .45, 0, 7); },
    "s": (p, x, y, r) => p.rect(x - r * .85, y - r * .85, r * 1.7, r * 1.7),
    "^": (p, x, y, r) => corners(p, [[x, y - r], [x + r, y + r * .8], [x - r, y + r * .8]]),
    "v": (p, x, y, r) => corners(p, [[x, y + r], [x + r, y - r * .8], [x - r, y - r * .8]]),
    "D": (p, x, y, r) => corners(p, [[x, y - r * 1.2], [x + r * 1.2, y], [x, y + r * 1.2], [x - r * 1.2, y]]),
    "d": (p, x, y, r) => corners(p, [[x, y - r * 1.3], [x + r * .8, y], [x, y + r * 1.3], [x - r * .8, y]]),
    "h": (p, x, y, r) => corners(p, [0, 1, 2, 3, 4, 5].map((k) => [x + r * Math.sin(k * 1.0472), y - r * Math.cos(k * 1.0472)])),
    "x": (p, x, y, r) => { line(p, x - r, y - r, x + r, y + r); line(p, x - r, y + r, x + r, y - r); },
    "+": (p, x, y, r) => { line(p, x - r, y, x + r, y); line(p, x, y - r, x, y + r); },
  };
  SHAPES["*"] = (p, x, y, r) => { for (const k of [0, 1, 2]) { const [c, s] = [Math.cos(k * 1.0472) * r, Math.sin(k * 1.0472) * r]; line(p, x - s, y - c, x + s, y + c); } };
  SHAPES.X = SHAPES.x;
  SHAPES.P = SHAPES["+"];
  const OPEN = new Set(["x", "+", "X", "P", "*"]);
  const line = (p, x0, y0, x1, y1) => { p.moveTo(x0, y0); p.lineTo(x1, y1); };
  const corners = (p, points) => { points.forEach(([x, y], i) => (i ? p.lineTo(x, y) : p.moveTo(x, y))); p.closePath(); };

  const dots = () => window.devicePixelRatio || 1;

  // A line or a staircase. All points in one column of pixels become their minimum, maximum and last.
  const lineOf = (u, trace, first, last) => {
    const path = new Path2D(), steps = trace.shape === "steps";
    let pen = false, column = NaN, lowest = 0, highest = 0, before = 0, many = false;
    const flush = () => { if (many) { path.lineTo(column, lowest); path.lineTo(column, highest); path.lineTo(column, before); } };
    for (let i = first; i < last; i++) {
      const value = trace.y[i];
      if (!(Math.abs(value) < Infinity)) { flush(); many = false; pen = false; column = NaN; continue; }
      const x = Math.round(u.valToPos(trace.x[i], "x", true)), y = u.valToPos(value, "y", true);
      if (!pen) { path.moveTo(x, y); pen = true; column = x; lowest = highest = before = y; continue; }
      if (x === column) { many = true; lowest = Math.min(lowest, y); highest = Math.max(highest, y); before = y; continue; }
      flush();
      many = false;
      if (steps) path.lineTo(x, before);
      path.lineTo(x, y);
      column = x; lowest = highest = before = y;
    }
    flush();
    return path;
  };

  const DRAW = {
    line(u, trace, first, last) {
      u.ctx.stroke(lineOf(u, trace, first, last));
      if (trace.marker && last - first < 400) marks(u, trace, first, last);
    },
    steps(u, trace, first, last) { u.ctx.stroke(lineOf(u, trace, first, last)); },
    strokes(u, trace, first, last) {
      const path = new Path2D();
      for (let i = first; i < last; i++) {
        const x = u.valToPos(trace.x[i], "x", true);
        line(path, x, u.valToPos(trace.low[i], "y", true), x, u.valToPos(trace.y[i], "y", true));
      }
      u.ctx.stroke(path);
    },
    points(u, trace, first, last) { marks(u, trace, first, last); },
    band(u, trace, first, last) {
      const path = new Path2D();
      for (let i = first; i < last; i++) path.lineTo(u.valToPos(trace.x[i], "x", true), u.valToPos(trace.y[i], "y", true));
      for (let i = last - 1; i >= first; i--) path.lineTo(u.valToPos(trace.x[i], "x", true), u.valToPos(trace.low[i], "y", true));
      u.ctx.globalAlpha = 0.16;
      u.ctx.fill(path);
      u.ctx.globalAlpha = 1;
    },
  };

  const marks = (u, trace, first, last) => {
    const path = new Path2D(), marker = trace.marker || ".", shape = SHAPES[marker] ?? SHAPES.o;
    u.ctx.setLineDash([]);
    for (let i = first; i < last; i++) {
      if (trace.y[i] === trace.y[i]) shape(path, u.valToPos(trace.x[i], "x", true), u.valToPos(trace.y[i], "y", true), 4 * dots());
    }
    if (OPEN.has(marker)) { u.ctx.lineWidth = 1.6 * dots(); u.ctx.stroke(path); return; }
    u.ctx.fill(path);
    if (marker !== ".") { u.ctx.strokeStyle = css("--ground"); u.ctx.lineWidth = dots() * .7; u.ctx.stroke(path); }
  };

  const DASHES = { "-": [], "--": [6, 3], "-.": [7, 3, 1.5, 3], ":": [1.5, 2.5] };
  const dashOf = (trace) => (Array.isArray(trace.dash) ? trace.dash[1] : DASHES[trace.dash] ?? []);
  const pen = (context, trace, scale) => {
    context.strokeStyle = context.fillStyle = ink(trace.colour);
    context.lineWidth = trace.width * scale;
    context.setLineDash(dashOf(trace).map((length) => length * scale));
  };

  const paint = (chart) => (u) => {
    const { ctx, bbox } = u, [min, max] = chart.view;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const trace of chart.traces) {
      if (trace.hidden) continue;
      pen(ctx, trace, dots());
      DRAW[trace.shape](u, trace, ...seen(trace, min, max));
    }
    ctx.restore();
  };

  // The value of a trace at a place: of a staircase the current value, else of the nearest point, if it is near.
  const valueAt = (u, trace, x, named) => {
    let i = place(trace.x, x, true) - 1;
    if (trace.shape !== "steps") {
      if (i < 0 || (i + 1 < trace.x.length && trace.x[i + 1] - x < x - trace.x[i])) i += 1;
      if (i >= trace.x.length || Math.abs(u.valToPos(trace.x[i], "x") - u.valToPos(x, "x")) > 8) return "";
    }
    const value = i < 0 ? NaN : trace.y[i];
    if (value !== value) return "";
    return named ? "now" : short(value);
  };
  const short = (value) => {
    const size = Math.abs(value);
    return size !== 0 && (size < 1e-3 || size >= 1e7) ? value.toExponential(3) : String(+value.toPrecision(6));
  };

  const swatch = (trace) => {
    const canvas = document.createElement("canvas"), scale = dots();
    canvas.width = 28 * scale; canvas.height = 12 * scale;
    canvas.setAttribute("aria-hidden", "true");
    trace.sample = () => {
      const context = canvas.getContext("2d"), middle = 6 * scale, path = new Path2D();
      context.clearRect(0, 0, canvas.width, canvas.height);
      pen(context, trace, scale);
      if (trace.shape === "strokes") { for (const x of [8, 14, 20]) line(path, x * scale, 2 * scale, x * scale, 10 * scale); context.stroke(path); }
      else if (trace.shape !== "points") { line(path, 2 * scale, middle, 26 * scale, middle); context.stroke(path); }
      if (trace.marker) marks({ ctx: context, valToPos: (v) => v }, { ...trace, x: [14 * scale], y: [middle] }, 0, 1);
    };
    trace.sample();
    return canvas;
  };

  const legendOf = (figure, chart) => {
    const legend = figure.querySelector(".keys");
    for (const trace of chart.traces) {
      if (trace.shape === "band") continue;
      const key = document.createElement("button");
      key.type = "button";
      key.setAttribute("aria-pressed", "true");
      key.title = "show or hide";
      trace.output = document.createElement("output");
      key.append(swatch(trace), ` ${trace.label} `, trace.output);
      key.addEventListener("click", () => {
        const bands = chart.traces.filter((other) => other.shape === "band" && other.name.startsWith(`${trace.name}:`));
        trace.hidden = !trace.hidden;
        for (const band of bands) band.hidden = trace.hidden;
        key.setAttribute("aria-pressed", String(!trace.hidden));
        chart.show(...chart.view);
      });
      legend.append(key);
    }
  };

  const showValues = (chart) => (u) => {
    const { left } = u.cursor, inside = left != null && left >= 0;
    const x = inside ? u.posToVal(left, "x") : NaN;
    chart.where.textContent = inside ? `${chart.x.label}: ${short(x)}` : "";
    for (const trace of chart.traces) if (trace.output) trace.output.textContent = inside ? valueAt(u, trace, x, chart.y.names.length > 0) : "";
  };

  // Numbers of an axis: with the digits that distinguish them, thousands separated, powers of ten far from 1.
  const ticks = (log) => (_, values, __, ___, step) => values.map((value) => {
    if (value == null) return "";
    const size = Math.abs(value);
    if (size && (log ? size < 1e-3 || size >= 1e6 : size >= 1e7 || step < 1e-5)) return value.toExponential().replace("e+", "e");
    const digits = log ? 6 : [0, 1, 2, 3, 4, 5, 6].find((count) => Math.abs(step * 10 ** count - Math.round(step * 10 ** count)) < 1e-6) ?? 7;
    const [whole, rest] = (log ? String(+value.toPrecision(digits)) : value.toFixed(digits)).split(".");
    const apart = whole.length > 4 ? whole.replace(/(?<=\d)(?=(\d{3})+$)/g, "\u202f") : whole;
    return rest ? `${apart}.${rest}` : apart;
  });

  // A short logarithmic axis also labels twos and fives.
  const labelled = (_, values) => {
    const known = values.filter((value) => value > 0), decades = Math.log10(Math.max(...known) / Math.min(...known));
    const shown = decades > 3 ? [1] : [1, 2, 5];
    const lead = (value) => value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    return values.map((value) => (shown.some((digit) => Math.abs(lead(value) - digit) < 1e-6) ? value : null));
  };

  const axis = (words, scale, log) => ({
    ...(log ? { filter: labelled } : {}),
    label: words, scale, values: ticks(log), labelSize: 18, labelGap: 0, labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif",
    stroke: () => css("--soft"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1 },
    size: scale === "y" ? 58 : 30,
  });

  // Rows have names instead of numbers. The charts of a group keep their left edges in line.
  const rows = (chart) => {
    const named = all.some((other) => other.y.names.length && (other === chart || (chart.group && other.group === chart.group)));
    const made = axis(chart.y.label, "y", chart.y.scale === "log");
    if (named) made.size = 128;
    if (chart.y.names.length) {
      made.splits = () => chart.y.names.map((_, place) => place);
      made.values = (_, values) => values.map((value) => chart.y.names[value] ?? "");
      made.filter = (_, values) => values;
    }
    return made;
  };

  const optionsOf = (figure, chart, width) => ({
    width, height: chart.height, legend: { show: false }, padding: [10, 18, 0, 0],
    scales: {
      x: { time: false, range: (_, min, max) => [min, max], distr: chart.x.scale === "log" ? 3 : 1 },
      y: { distr: chart.y.scale === "log" ? 3 : 1, range: () => reach(chart, ...chart.view) },
    },
    series: [{}, { paths: () => null, points: { show: false } }],
    axes: [axis(chart.x.label, "x", chart.x.scale === "log"), rows(chart)],
    cursor: { points: { show: false }, drag: { x: true, y: false, setScale: false }, y: false },
    hooks: {
      draw: [paint(chart)],
      setCursor: [showValues(chart)],
      setSelect: [(u) => {
        if (u.select.width > 4) zoom(chart, u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
    },
  });

  // Charts with the same time axis move together.
  const zoom = (chart, from, until) => {
    const [first, last] = chart.span;
    const group = chart.group ? all.filter((other) => other.group === chart.group) : [chart];
    for (const other of group) other.show(Math.max(from, first), Math.min(until, last));
  };
  const reset = (chart) => zoom(chart, ...chart.span);

  const KEYS = {
    "+": (at, from, until) => [at - (at - from) / 2, at + (until - at) / 2],
    "-": (at, from, until) => [at - (at - from) * 2, at + (until - at) * 2],
    ArrowLeft: (_, from, until, step) => [from - step, until - step],
    ArrowRight: (_, from, until, step) => [from + step, until + step],
  };
  KEYS["="] = KEYS["+"];
  const press = (chart) => (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "0" || event.key === "Escape" || event.key === "Home") { reset(chart); event.preventDefault(); return; }
    if (!KEYS[event.key]) return;
    event.preventDefault();
    const log = chart.x.scale === "log", go = log ? Math.log : (v) => v, back = log ? Math.exp : (v) => v;
    // uPlot updates its own scale a moment later.
    const [min, max] = chart.view, [first, last] = chart.span.map(go);
    let [from, until] = KEYS[event.key]((go(min) + go(max)) / 2, go(min), go(max), (go(max) - go(min)) / 4);
    // A move stops at the ends of the data and keeps the width of the range.
    if (event.key.startsWith("Arrow")) {
      const shift = Math.max(first - from, 0) + Math.min(last - until, 0);
      from += shift; until += shift;
    }
    zoom(chart, back(Math.max(from, first)), back(Math.min(until, last)));
  };

  const csv = (chart) => {
    const rows = [`trace,${chart.x.column},${chart.y.column},${chart.y.column}_low`];
    for (const trace of chart.traces) {
      const name = `"${trace.name.replaceAll('"', '""')}"`;
      for (let i = 0; i < trace.x.length; i++) {
        if (trace.y[i] === trace.y[i]) rows.push(`${name},${trace.x[i]},${trace.y[i]},${trace.low ? trace.low[i] : ""}`);
      }
    }
    return rows.join("\n") + "\n";
  };
  const download = (name, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // Markers at the ends need room, or they would be cut.
  const roomy = (chart, low, high) => {
    if (!chart.traces.some((trace) => trace.marker && trace.x.length < 4000)) return [low, high];
    if (chart.x.scale === "log") { const share = (high / low) ** 0.02; return [low / share, high * share]; }
    const share = (high - low) * 0.02;
    return [low >= 0 && low < share ? low : low - share, high + share];
  };

  const build = (figure) => {
    const chart = JSON.parse(figure.querySelector("script").textContent);
    for (const trace of chart.traces) for (const name of ["x", "y", "low"]) trace[name] = numbers(trace[name]);
    const ends = chart.traces.filter((trace) => trace.x.length).map((trace) => [trace.x[0], trace.x[trace.x.length - 1]]);
    const [low, high] = [Math.min(...ends.map((end) => end[0])), Math.max(...ends.map((end) => end[1]))];
    chart.span = low < high ? roomy(chart, low, high) : [low - 0.5, high + 0.5];
    chart.view = chart.span;
    chart.group = figure.dataset.group || "";
    return Object.assign(chart, { figure });
  };

  // After all charts are known, sets the shared y ranges.
  const draw = (chart) => {
    const { figure } = chart, holder = figure.querySelector(".plot");
    chart.where = figure.querySelector(".where");
    legendOf(figure, chart);
    chart.plot = new uPlot(optionsOf(figure, chart, holder.clientWidth), [chart.span, [null, null]], holder);
    chart.show = (min, max) => {
      if (!(max > min)) return;
      chart.view = [min, max];
      chart.plot.setScale("x", { min, max });
      Object.assign(figure.dataset, { from: min, until: max });
    };
    holder.addEventListener("keydown", press(chart));
    holder.addEventListener("dblclick", () => reset(chart));
    figure.querySelector(".whole").addEventListener("click", () => reset(chart));
    figure.querySelector(".csv").addEventListener("click", () => download(`${figure.id}.csv`, csv(chart)));
    new ResizeObserver(() => {
      if (Math.abs(holder.clientWidth - chart.plot.width) > 1) chart.plot.setSize({ width: holder.clientWidth, height: chart.height });
    }).observe(holder);
    figure.dataset.drawn = "yes";
  };

  // Evidence leads to its place in the charts of its group.
  const jumps = () => {
    for (const button of document.querySelectorAll("button[data-jump]")) {
      const group = all.filter((chart) => chart.group === button.dataset.jump);
      button.hidden = !group.length;
      button.addEventListener("click", () => {
        zoom(group[0], +button.dataset.from, +button.dataset.until);
        group[0].figure.scrollIntoView({ block: "start" });
      });
    }
  };

  // The bars of a budget have the colours of the charts.
  const tint = () => {
    for (const bar of document.querySelectorAll(".budget i[data-colour]")) bar.style.background = ink(bar.dataset.colour);
  };

  const repaint = () => {
    tint();
    for (const chart of all) {
      chart.plot.redraw(false);
      for (const trace of chart.traces) trace.sample?.();
    }
  };

  const faces = () => {
    const button = document.querySelector(".face");
    if (!button) return;
    button.hidden = false;
    const write = () => { button.textContent = dark() ? "Light mode" : "Dark mode"; };
    button.addEventListener("click", () => {
      document.documentElement.dataset.face = dark() ? "light" : "dark";
      write();
      repaint();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { write(); repaint(); });
    write();
  };

  document.addEventListener("DOMContentLoaded", () => {
    faces();
    tint();
    all.push(...[...document.querySelectorAll("figure.chart")].map(build));
    all.forEach(draw);
    for (const chart of all) {
      const group = all.filter((other) => chart.group && other.group === chart.group);
      if (group.length) chart.span = [Math.min(...group.map((each) => each.span[0])), Math.max(...group.map((each) => each.span[1]))];
    }
    for (const chart of all) chart.show(...chart.span);
    jumps();
  });
})();

// Draws the maps of a report: a cell under the pointer, or selected by arrow keys, shows its value. No network, no storage.
(() => {
  "use strict";
  // Cividis: its lightness rises monotonically, so it is readable in grey and by colour-blind readers.
  const STOPS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"]
    .map((stop) => [1, 3, 5].map((at) => parseInt(stop.slice(at, at + 2), 16)));
  const FONT = "12px system-ui, sans-serif", SMALL = "11px system-ui, sans-serif";
  const css = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();
  const numbers = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const short = (value) => {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
    return size >= 1000 ? String(Math.round(value)) : value.toPrecision(3);
  };
  const colour = (share) => {
    const place = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1), from = Math.min(Math.floor(place), STOPS.length - 2);
    return `rgb(${STOPS[from].map((low, k) => Math.round(low + (STOPS[from + 1][k] - low) * (place - from))).join(",")})`;
  };

  const all = [];

  // Sets the canvas up for the pixel ratio; returns the context and the size in CSS pixels.
  const sized = (canvas, height) => {
    const width = canvas.parentElement.clientWidth, dots = window.devicePixelRatio || 1;
    canvas.width = width * dots; canvas.height = height * dots;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.setTransform(dots, 0, 0, dots, 0, 0);
    context.clearRect(0, 0, width, height);
    return [context, width];
  };

  // Every n-th label, so that labels do not overlap.
  const every = (widest, step) => Math.max(1, Math.ceil((widest + 10) / step));

  const draw = (map, panel) => {
    const { columns, rows } = map, least = 22 * rows.length + 60;
    const [context, width] = sized(panel.canvas, Math.max(190, Math.min(least, 460)));
    const height = parseFloat(panel.canvas.style.height);
    context.font = SMALL;
    const widest = (words) => Math.max(...words.map((word) => context.measureText(word).width));
    const box = { left: widest(rows) + 32, top: 6, right: width - 8, bottom: height - 42 };
    const step = { x: (box.right - box.left) / columns.length, y: (box.bottom - box.top) / rows.length };
    Object.assign(panel, { box, step });
    const middle = (map.least + map.most) / 2, span = map.most - map.least || 1;
    const roomy = step.x > 44 && step.y > 15;
    context.textBaseline = "middle"; context.textAlign = "center";
    panel.values.forEach((value, at) => {
      const column = at % columns.length, row = Math.floor(at / columns.length);
      const x = box.left + column * step.x, y = box.bottom - (row + 1) * step.y;
      if (!(value === value)) return;
      context.fillStyle = colour((value - map.least) / span);
      context.fillRect(x, y, step.x + .5, step.y + .5);
      context.fillStyle = value > middle ? "#000" : "#fff";
      const mark = panel.marks.get(at);
      if (roomy) context.fillText(short(value), x + step.x / 2, y + step.y / 2);
      if (mark) {
        context.font = mark === map.best ? "bold 16px system-ui, sans-serif" : SMALL;
        context.fillText(mark === map.best ? "★" : "•", roomy ? x + step.x / 2 + 24 : x + step.x / 2, y + step.y / 2);
        context.font = SMALL;
      }
    });
    context.fillStyle = css("--soft");
    for (let k = 0, by = every(widest(columns), step.x); k < columns.length; k += by) context.fillText(columns[k], box.left + (k + .5) * step.x, box.bottom + 12);
    context.textAlign = "right";
    for (let k = 0, by = every(4, step.y); k < rows.length; k += by) context.fillText(rows[k], box.left - 6, box.bottom - (k + .5) * step.y);
    context.font = FONT; context.textAlign = "center";
    context.fillText(map.x, (box.left + box.right) / 2, height - 10);
    context.translate(9, (box.top + box.bottom) / 2);
    context.rotate(-Math.PI / 2);
    const room = box.bottom - box.top + 30, words = map.y.split(".");
    while (words.length > 1 && context.measureText(words.join(".")).width > room) words.shift();
    context.fillText(words.join("."), 0, 0);
    context.setTransform(window.devicePixelRatio || 1, 0, 0, window.devicePixelRatio || 1, 0, 0);
    if (panel.at != null) {
      const column = panel.at % columns.length, row = Math.floor(panel.at / columns.length);
      context.lineWidth = 3; context.strokeStyle = "#fff";
      const outline = [box.left + column * step.x, box.bottom - (row + 1) * step.y, step.x, step.y];
      context.strokeRect(...outline);
      context.lineWidth = 1.5; context.strokeStyle = "#000";
      context.strokeRect(...outline);
    }
  };

  const scale = (map) => {
    const [context, width] = sized(map.scale, 38), wide = Math.min(width - 16, 340), left = 8;
    for (let k = 0; k < wide; k++) { context.fillStyle = colour(k / wide); context.fillRect(left + k, 4, 1.5, 10); }
    context.fillStyle = css("--soft"); context.font = SMALL; context.textBaseline = "middle";
    context.textAlign = "left"; context.fillText(short(map.least), left, 24);
    context.textAlign = "right"; context.fillText(short(map.most), left + wide, 24);
    context.textAlign = "center"; context.fillText(map.quantity, left + wide / 2, 24);
  };

  const repaint = (map) => { for (const panel of map.panels) draw(map, panel); scale(map); };

  const showCell = (map, panel, at) => {
    for (const other of map.panels) if (other !== panel && other.at != null) { other.at = null; draw(map, other); }
    panel.at = at;
    draw(map, panel);
    if (at == null) { map.where.textContent = ""; return; }
    const { columns, rows } = map, value = panel.values[at], title = panel.title ? `${panel.title}, ` : "";
    const more = [panel.details[at], panel.marks.get(at)].filter(Boolean).join("; ");
    const said = value === value ? `${+value.toPrecision(5)}${more ? ` (${more})` : ""}` : "not run";
    map.where.textContent = `${title}${map.x} ${columns[at % columns.length]}, ${map.y} ${rows[Math.floor(at / columns.length)]}: ${said}`;
  };

  const under = (map, panel, event) => {
    const frame = panel.canvas.getBoundingClientRect(), { box, step } = panel;
    const column = Math.floor((event.clientX - frame.left - box.left) / step.x), row = Math.floor((frame.top + box.bottom - event.clientY) / step.y);
    return column >= 0 && row >= 0 && column < map.columns.length && row < map.rows.length ? row * map.columns.length + column : null;
  };

  const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const press = (map, panel) => (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") { showCell(map, panel, null); return; }
    if (!MOVES[event.key]) return;
    event.preventDefault();
    const [right, up] = MOVES[event.key], wide = map.columns.length, at = panel.at ?? 0;
    const column = Math.min(Math.max((at % wide) + (panel.at == null ? 0 : right), 0), wide - 1);
    const row = Math.min(Math.max(Math.floor(at / wide) + (panel.at == null ? 0 : up), 0), map.rows.length - 1);
    showCell(map, panel, row * wide + column);
  };

  const build = (figure) => {
    const map = JSON.parse(figure.querySelector("script").textContent);
    map.where = figure.querySelector(".where");
    map.scale = figure.querySelector(".scale canvas");
    map.panels.forEach((panel, k) => {
      panel.values = numbers(panel.values);
      panel.marks = new Map(panel.marks);
      panel.holder = figure.querySelectorAll(".map")[k];
      panel.canvas = panel.holder.querySelector("canvas");
      panel.holder.addEventListener("pointermove", (event) => showCell(map, panel, under(map, panel, event)));
      panel.holder.addEventListener("pointerleave", () => showCell(map, panel, null));
      panel.holder.addEventListener("keydown", press(map, panel));
      panel.holder.addEventListener("blur", () => showCell(map, panel, null));
    });
    const known = map.panels.flatMap((panel) => [...panel.values]).filter((value) => value === value);
    Object.assign(map, { least: Math.min(...known), most: Math.max(...known) });
    repaint(map);
    new ResizeObserver(() => repaint(map)).observe(figure);
    figure.dataset.drawn = "yes";
    all.push(map);
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("figure.maps").forEach(build);
    const again = () => all.forEach(repaint);
    document.querySelector(".face")?.addEventListener("click", again);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  });
})();

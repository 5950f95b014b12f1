// The time range of all charts, and the time that all of them mark.

const charts = new Set();
export const view = { from: 0, to: 1, begin: 0, end: 1, moment: null };

export const join = (chart) => charts.add(chart);
export const leaveAll = () => charts.clear();

// Sets the range of another run or connection. A view of everything stays one.
export function extend(begin, end) {
  const whole = view.from === view.begin && view.to === view.end;
  [view.begin, view.end] = [begin, end];
  if (whole || view.from >= end || view.to <= begin) [view.from, view.to] = [begin, end];
  [view.from, view.to] = [Math.max(view.from, begin), Math.min(view.to, end)];
}

export function zoom(from, to) {
  const all = view.end - view.begin;
  const width = Math.min(Math.max(to - from, all * 1e-6), all);
  view.from = Math.min(Math.max(view.begin, from), view.end - width);
  view.to = width === all ? view.end : view.from + width;
  redraw();
}
export const zoomOut = () => zoom(view.begin, view.end);
export function scale(factor, middle = (view.from + view.to) / 2) {
  zoom(middle - (middle - view.from) * factor, middle + (view.to - middle) * factor);
}
export const pan = (part) => zoom(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

export function redraw() {
  for (const chart of charts) chart.fit();
}

// The player's time.
export function mark(moment) {
  view.moment = moment;
  for (const chart of charts) chart.mark();
}

// Arrow keys, +, − and 0 on a focused chart.
export function key(event) {
  const act = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), 0: zoomOut }[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

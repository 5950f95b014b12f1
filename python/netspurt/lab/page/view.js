// The stretch of time that all charts show, and the moment that all of them mark.

const charts = new Set();
export const view = { from: 0, to: 1, end: 1, moment: null };

export const join = (chart) => charts.add(chart);
export const leaveAll = () => charts.clear();

// Another run is as long as this. Where all of time was shown, all of it still is.
export function extend(end) {
  const whole = view.from === 0 && view.to === view.end;
  view.end = end;
  if (whole || view.from >= end) [view.from, view.to] = [0, end];
  view.to = Math.min(view.to, Math.max(end, view.from));
}

export function zoom(from, to) {
  const least = view.end * 1e-6;
  const width = Math.min(Math.max(to - from, least), view.end);
  view.from = Math.min(Math.max(0, from), view.end - width);
  view.to = view.from + width;
  redraw();
}
export const zoomOut = () => zoom(0, view.end);
export function scale(factor, middle = (view.from + view.to) / 2) {
  zoom(middle - (middle - view.from) * factor, middle + (view.to - middle) * factor);
}
export const pan = (part) => zoom(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

export function redraw() {
  for (const chart of charts) chart.fit();
}

// The moment that the player is at.
export function mark(moment) {
  view.moment = moment;
  for (const chart of charts) chart.mark();
}

// Arrow keys, + and − and 0 on a chart that has the keyboard.
export function key(event) {
  const act = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), 0: zoomOut }[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

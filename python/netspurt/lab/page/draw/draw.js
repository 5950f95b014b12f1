// Marks on a canvas: staircases, lines, dots and shapes. Each column of pixels is drawn once, from
// its minimum to its maximum, so that the cost depends on the screen's width, and no extreme is lost.

// The first index in `sorted` whose value is not less than `value`.
export function lowerBound(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// The indices visible between two times, and one more at each side.
export function visible(time, from, to) {
  return [Math.max(0, lowerBound(time, from) - 1), Math.min(time.length, lowerBound(time, to) + 1)];
}

// A line; with `steps` a staircase.
export function line(context, time, value, [begin, end], x, y, steps, until) {
  context.beginPath();
  let column = NaN, low = 0, high = 0, last = NaN, drawing = false;
  const flush = () => {
    if (high - low > 1) { context.moveTo(column, low); context.lineTo(column, high); context.moveTo(column, last); }
  };
  for (let place = begin; place < end; place++) {
    if (!Number.isFinite(value[place])) { if (drawing) flush(); drawing = false; column = NaN; continue; }
    const here = Math.round(x(time[place])), there = y(value[place]);
    if (!drawing) {
      context.moveTo(here, there);
      drawing = true;
      [column, low, high] = [here, there, there];
    } else if (here === column) {
      low = Math.min(low, there);
      high = Math.max(high, there);
    } else {
      flush();
      if (steps) context.lineTo(here, last);
      context.lineTo(here, there);
      [column, low, high] = [here, there, there];
    }
    last = there;
  }
  if (drawing) {
    flush();
    if (steps && until !== undefined) context.lineTo(x(until), last);
  }
  context.stroke();
}

// The area between `low` and `high`, interrupted where one is missing.
export function area(context, { time, low, high }, [begin, end], x, y) {
  for (let from = begin; from < end; from++) {
    if (!Number.isFinite(low[from])) continue;
    let to = from;
    while (to < end && Number.isFinite(low[to])) to++;
    context.beginPath();
    for (let place = from; place < to; place++) context.lineTo(x(time[place]), y(high[place]));
    for (let place = to - 1; place >= from; place--) context.lineTo(x(time[place]), y(low[place]));
    context.closePath();
    context.fill();
    from = to;
  }
}

// The minimum and maximum of the visible part of several { time, value } series; null if it is empty.
export function extent(series, from, to) {
  let low = Infinity, high = -Infinity;
  for (const { time, value } of series) {
    const [begin, end] = visible(time, from, to);
    for (let place = begin; place < end; place++) {
      if (value[place] < low) low = value[place];
      if (value[place] > high && Number.isFinite(value[place])) high = value[place];
    }
  }
  return low <= high ? [low, high] : null;
}

// A shape of `size` pixels around a point. words.js assigns shapes to reasons.
export function shape(context, kind, x, y, size) {
  const half = size / 2;
  context.beginPath();
  if (kind === "up" || kind === "down") {
    const way = kind === "up" ? 1 : -1;
    context.moveTo(x, y - way * half);
    context.lineTo(x + half, y + way * half);
    context.lineTo(x - half, y + way * half);
    context.closePath();
    context.fill();
  } else if (kind === "diamond") {
    context.moveTo(x, y - half * 1.2);
    context.lineTo(x + half, y);
    context.lineTo(x, y + half * 1.2);
    context.lineTo(x - half, y);
    context.closePath();
    context.fill();
  } else if (kind === "square") {
    context.fillRect(x - half, y - half, size, size);
  } else {
    context.moveTo(x - half, y - half);
    context.lineTo(x + half, y + half);
    context.moveTo(x + half, y - half);
    context.lineTo(x - half, y + half);
    context.stroke();
  }
}

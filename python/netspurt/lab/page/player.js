// Plays all scenes: a clock with speed, pause, step and scrub.

import { $, el } from "./base/dom.js";
import { lowerBound } from "./draw/draw.js";
import * as shared from "./draw/view.js";

const SPEEDS = [1e-7, 2e-7, 5e-7, 1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];
const FLIGHT_S = 1.2; // default duration of one flight on screen

export class Player {
  #playing = 0;
  #last = 0;
  #chosen = false; // whether the user chose a speed
  #times = [];
  moment = 0;
  begin = 0;
  end = 1;

  constructor(scenes) {
    this.scenes = scenes; // a function that returns the visible scenes
    this.speed = $("speed");
    this.speed.append(...SPEEDS.map((each) => el("option", { value: each }, each >= 1 ? `× ${each}` : `1 : ${Math.round(1 / each).toLocaleString("en").replaceAll(",", " ")}`)));
    this.speed.onchange = () => { this.#chosen = true; };
    $("run").onclick = () => (this.#playing ? this.pause() : this.play());
    $("step").onclick = () => this.step(1);
    $("back").onclick = () => this.step(-1);
    $("scrub").oninput = () => { this.pause(); this.go(this.begin + Number($("scrub").value) * (this.end - this.begin)); };
    this.pause();
    $("play").addEventListener("keydown", (event) => {
      if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); $("run").click(); }
    });
  }

  // New runs: the times of their segments, and their duration.
  load(times, begin, end, flight) {
    this.#times = times;
    [this.begin, this.end] = [begin, end];
    if (!this.#chosen) {
      const wanted = flight / FLIGHT_S;
      this.speed.value = SPEEDS.reduce((best, each) => (Math.abs(Math.log(each / wanted)) < Math.abs(Math.log(best / wanted)) ? each : best));
    }
    this.go(Math.min(Math.max(this.moment, begin), end));
  }

  go(moment) {
    this.moment = moment;
    $("scrub").value = (moment - this.begin) / (this.end - this.begin);
    const words = timeText(moment, this.end);
    $("now").textContent = words;
    $("scrub").setAttribute("aria-valuetext", words);
    for (const scene of this.scenes()) scene.draw(moment);
    shared.mark(moment);
  }

  play() {
    if (this.moment >= this.end) this.moment = this.begin;
    this.#last = performance.now();
    const tick = (now) => {
      const moment = this.moment + ((now - this.#last) / 1000) * Number(this.speed.value);
      this.#last = now;
      this.go(Math.min(moment, this.end));
      if (moment >= this.end) this.pause(); else this.#playing = requestAnimationFrame(tick);
    };
    this.#playing = requestAnimationFrame(tick);
    this.#button("M4 3h3v10H4zM9 3h3v10H9z", "Pause");
  }

  pause() {
    cancelAnimationFrame(this.#playing);
    this.#playing = 0;
    this.#button("M4 2.5v11l9-5.5z", "Play");
  }

  // Goes to the time of the next or the previous segment.
  step(way) {
    this.pause();
    const all = this.#times.map((time) => {
      const place = lowerBound(time, this.moment);
      if (way < 0) return place > 0 ? time[place - 1] : -Infinity;
      let next = place;
      while (next < time.length && time[next] <= this.moment) next++;
      return next < time.length ? time[next] : Infinity;
    });
    const moment = way > 0 ? Math.min(...all) : Math.max(...all);
    if (Number.isFinite(moment)) this.go(moment);
  }

  #button(path, name) {
    $("run").innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${path}"/></svg>`;
    $("run").setAttribute("aria-label", name);
  }
}

// A time in the unit of the end, with three decimals.
function timeText(moment, end) {
  const [factor, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]].find(([factor]) => end >= factor) ?? [1e-9, "ns"];
  return `${(moment / factor).toFixed(3)} ${unit}`;
}

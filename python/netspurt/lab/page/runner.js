// Runs of one side, of which the newest counts. While one is under way that will soon be there, it is waited for, so that
// pictures follow a slider; one that takes longer is ended as soon as there is something newer to ask.

import * as api from "./base/api.js";

const PATIENCE_MS = 150;
const page = crypto.getRandomValues(new Uint32Array(2)).join("-");

export class Runner {
  #under_way = null;
  #next = null;
  #timer = 0;

  // `show(answer)` gets { head, columns, ms }; `fail(error)` gets what was wrong.
  constructor(name, show, fail) {
    this.place = `${page}/${name}`;
    this.show = show;
    this.fail = fail;
  }

  ask(body) {
    this.#next = body;
    if (!this.#under_way) {
      this.#begin();
    } else if (performance.now() - this.#under_way.since > PATIENCE_MS) {
      this.#under_way.stop.abort();
    } else if (!this.#timer) {
      const left = PATIENCE_MS - (performance.now() - this.#under_way.since);
      this.#timer = setTimeout(() => { this.#timer = 0; if (this.#next) this.#under_way?.stop.abort(); }, left);
    }
  }

  async #begin() {
    const body = this.#next;
    this.#next = null;
    const mine = { stop: new AbortController(), since: performance.now() };
    this.#under_way = mine;
    try {
      const answer = await api.run({ ...body, place: this.place }, mine.stop.signal);
      this.show({ ...answer, ms: performance.now() - mine.since });
    } catch (error) {
      const superseded = error.name === "AbortError" || error.status === 409;
      if (!superseded) this.fail(error);
    }
    this.#under_way = null;
    if (this.#next) this.#begin();
  }
}

// Runs of one side, of which the newest counts. A short run is allowed to finish, so that the charts follow a slider. A
// longer one is cancelled by a newer request.

const CANCEL_AFTER_MS = 150;
const page = crypto.getRandomValues(new Uint32Array(2)).join("-");

export class Runner {
  #under_way = null;
  #next = null;
  #timer = 0;

  // `send(request, signal)` gives a promise of { head, columns }; `show(answer)` receives it with `ms`; `fail(error)`
  // receives the error.
  constructor(name, send, show, fail) {
    this.place = `${page}/${name}`;
    this.send = send;
    this.show = show;
    this.fail = fail;
  }

  ask(body) {
    this.#next = body;
    if (!this.#under_way) {
      this.#begin();
    } else if (performance.now() - this.#under_way.since > CANCEL_AFTER_MS) {
      this.#under_way.stop.abort();
    } else if (!this.#timer) {
      const left = CANCEL_AFTER_MS - (performance.now() - this.#under_way.since);
      this.#timer = setTimeout(() => { this.#timer = 0; if (this.#next) this.#under_way?.stop.abort(); }, left);
    }
  }

  // Ends what is under way, and forgets what waits.
  stop() {
    this.#next = null;
    this.#under_way?.stop.abort();
  }

  async #begin() {
    const body = this.#next;
    this.#next = null;
    const mine = { stop: new AbortController(), since: performance.now() };
    this.#under_way = mine;
    try {
      const answer = await this.send({ ...body, place: this.place }, mine.stop.signal);
      this.show({ ...answer, ms: performance.now() - mine.since });
    } catch (error) {
      const superseded = error.name === "AbortError" || error.status === 409;
      if (!superseded) this.fail(error);
    }
    this.#under_way = null;
    if (this.#next) this.#begin();
  }
}

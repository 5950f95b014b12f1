// Reasons and how they look: words and colours come from the server, shapes are here.

const SHAPES = {
  "fast-retransmit": "up", "partial-ack": "down", "sack-hole": "diamond", "sack-rescue": "diamond", "rack-loss": "down",
  "tail-probe": "cross", "tail-probe-data": "cross", "too-big": "square", "nak-resend": "diamond", timeout: "cross", "go-back-n": "square",
};

export let reasons = []; // { name, words, title, resent, paint, shape } by number
export function learn(told) {
  reasons = told.map((each) => ({ ...each, resent: each.colour !== null, paint: `why-${each.name}`, shape: SHAPES[each.name] ?? "square" }));
}

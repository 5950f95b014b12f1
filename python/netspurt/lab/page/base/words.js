// The reasons and the limits, and their style: words and colours come from the server, shapes are defined here.

const SHAPES = {
  "fast-retransmit": "up", "partial-ack": "down", "sack-hole": "diamond", "sack-rescue": "diamond", "rack-loss": "down",
  "tail-probe": "cross", "tail-probe-data": "cross", "too-big": "square", "nak-resend": "diamond", timeout: "cross", "go-back-n": "square",
};

export let reasons = []; // { name, words, title, retransmission, paint, shape } by number
export function learn(described) {
  reasons = described.map((each) => ({ ...each, retransmission: each.colour !== null, paint: `why-${each.name}`, shape: SHAPES[each.name] ?? "square" }));
}

export let limits = []; // { name, words, paint } by number
export function learnLimits(described) {
  limits = described.map((each) => ({ ...each, paint: `limit-${each.name}` }));
}

// The state of the page: one scenario, a seed, and one or two settings of it. The address contains it, so that it
// survives a reload and can be bookmarked.

export const state = {
  key: null,
  capture: null, // the key of the capture whose fitted path is shown
  text: null, // the edited text; null for the unchanged file
  seed: 1,
  seeds: 1, // the number of seeds, from `seed` on
  comparing: false,
  moving: 0, // the setting that the controls change
  sides: [{ settings: new Map(), answer: null, spread: null }, { settings: new Map(), answer: null, spread: null }],
  connection: null,
  hosts: [], // hosts at the ends of flows
};

export const shownSides = () => (state.comparing ? state.sides : state.sides.slice(0, 1));
export const sideName = (side) => "AB"[state.sides.indexOf(side)];

// The settings of a side in the form of the server.
export const pairs = (side) => [...side.settings];

export function requestOf(side) {
  const body = { key: state.key, settings: pairs(side), seed: state.seed, connection: state.connection };
  if (state.text !== null) body.text = state.text;
  return body;
}

// An edited text is not kept: the address would be too long.
export function remember() {
  const kept = { key: state.capture ?? state.key, seed: state.seed, a: pairs(state.sides[0]) };
  if (state.seeds > 1) kept.seeds = state.seeds;
  if (state.comparing) kept.b = pairs(state.sides[1]);
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(kept))}`);
}

export function recall() {
  try {
    const kept = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    state.key = kept.key;
    state.seed = kept.seed;
    state.seeds = kept.seeds ?? 1;
    state.sides[0].settings = new Map(kept.a);
    state.comparing = Boolean(kept.b);
    state.sides[1].settings = new Map(kept.b ?? []);
  } catch {
    // The address has no settings, or is truncated: the page starts with defaults.
  }
}

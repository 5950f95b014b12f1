// What the page shows: one scenario, a seed, and one or two settings of it. Kept in the address, so that it survives a
// reload and can be bookmarked.

export const state = {
  key: null,
  text: null, // of an edited scenario; null for the file as it is
  seed: 1,
  comparing: false,
  moving: 0, // which setting the controls move
  sides: [{ settings: new Map(), answer: null }, { settings: new Map(), answer: null }],
  connection: null,
  hosts: [], // at which flows of the scenario begin and end
};

export const shownSides = () => (state.comparing ? state.sides : state.sides.slice(0, 1));
export const sideName = (side) => "AB"[state.sides.indexOf(side)];

// The settings of a side as the server wants them.
export const pairs = (side) => [...side.settings];

export function asked(side) {
  const body = { key: state.key, settings: pairs(side), seed: state.seed, connection: state.connection };
  if (state.text !== null) body.text = state.text;
  return body;
}

// An edited text is not kept: the address would grow without end.
export function remember() {
  const kept = { key: state.key, seed: state.seed, a: pairs(state.sides[0]) };
  if (state.comparing) kept.b = pairs(state.sides[1]);
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(kept))}`);
}

export function recall() {
  try {
    const kept = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    state.key = kept.key;
    state.seed = kept.seed;
    state.sides[0].settings = new Map(kept.a);
    state.comparing = Boolean(kept.b);
    state.sides[1].settings = new Map(kept.b ?? []);
  } catch {
    // An address without settings, or one that somebody has cut: the page begins anew.
  }
}

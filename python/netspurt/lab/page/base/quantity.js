// Values with units, as a scenario writes them: text to number and back.

const FAMILIES = [
  { name: "time", units: { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9, min: 60 }, shown: ["ns", "us", "ms", "s"] },
  { name: "rate", units: { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12 }, shown: ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"] },
  { name: "size", units: { B: 1, KiB: 1024, MiB: 2 ** 20, GiB: 2 ** 30, kB: 1e3, MB: 1e6, GB: 1e9 }, shown: ["B", "KiB", "MiB", "GiB"] },
  { name: "segments", units: { segments: 1, segment: 1 }, shown: ["segments"], whole: true },
  { name: "packets", units: { packets: 1, packet: 1 }, shown: ["packets"], whole: true },
];

// { value, family } of "1.5 Mbit/s" or of a bare number; null for anything else, such as "infinite".
export function parse(text) {
  if (typeof text === "number") return { value: text, family: null };
  const match = /^\s*([0-9.]+(?:e[-+]?[0-9]+)?)\s*([A-Za-z/]*)\s*$/.exec(text ?? "");
  if (!match) return null;
  const value = Number(match[1]);
  if (Number.isNaN(value)) return null;
  if (!match[2]) return { value, family: null };
  const family = FAMILIES.find((each) => match[2] in each.units);
  return family ? { value: value * family.units[match[2]], family } : null;
}

// Three digits, in the unit with the fewest digits before the point.
export function format(value, family, digits = 3) {
  if (!family) return plain(value, digits);
  if (family.whole) return `${Math.max(1, Math.round(value))} ${family.shown[0]}`;
  let unit = family.shown[0];
  for (const each of family.shown) if (value >= family.units[each] * 0.9995) unit = each;
  if (value === 0) unit = family.name === "time" ? "s" : unit;
  return `${round(value / family.units[unit], digits)} ${unit}`;
}

function plain(value, digits) {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)
    ? value.toExponential(Math.max(0, digits - 2)).replace("e+", "e").replace(".0e", "e")
    : round(value, digits);
}

function round(value, digits) {
  const size = Math.max(digits, Math.floor(Math.log10(Math.abs(value) || 1)) + 1);
  return String(Number(value.toPrecision(size)));
}

// Text that is TOML already.
export class Toml {
  constructor(text) { this.text = text; }
}

// As TOML for an override: text in quotes, other values unchanged.
export function toml(value) {
  if (value instanceof Toml) return value.text;
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{ ${Object.entries(value).map(([key, each]) => `${key} = ${toml(each)}`).join(", ")} }`;
  }
  if (typeof value === "number" && !Number.isInteger(value)) return String(value).replace(/^(\d+)e/, "$1.0e");
  return String(value);
}

// The first step that is not larger than the value; zero uses the first unit, very small values the last.
const si = (value, unit, steps) => {
  const size = Math.abs(value);
  const [factor, prefix] = steps.find(([least]) => size >= least * 0.9995) ?? steps.at(-1);
  return value === 0 ? `0 ${unit}` : `${trim(value / factor)} ${prefix}${unit}`;
};
const trim = (value) => (Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3))));

// Readable text with narrow spaces: "1.04 Mbit/s", "290 ms", "156 KiB".
export const rate = (value) => (value == null || !isFinite(value) ? "–" : si(value, "bit/s", [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]));
export const bytes = (value) => (value == null || !isFinite(value) ? "–" : si(value, "B", [[2 ** 30, "Gi"], [2 ** 20, "Mi"], [1024, "Ki"], [1, ""]]));
// An amount of data that was transferred, in decimal units as the commands print it: "20 MB". Windows and buffers are in KiB.
export const amount = (value) => (value == null || !isFinite(value) ? "–" : si(value, "B", [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]));
export const time = (value) => (value == null || !isFinite(value) ? "–" : si(value, "s", [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]]));
export const count = (value) => (value == null ? "–" : Number(value).toLocaleString("en").replace(/,/g, " "));
export const percent = (value) => (value == null ? "–" : `${(100 * value).toPrecision(3)} %`);
export const factor = (value) => trim(value);

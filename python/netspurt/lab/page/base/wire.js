// Reads messages of wire.py: a header, and columns of numbers that are used in place.

const TYPES = { float64: Float64Array, float32: Float32Array, int32: Int32Array, uint8: Uint8Array };
const ALIGNED = 8;

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const columns = {};
  let place = 4 + length;
  for (const { name, type, count } of head.columns) {
    const Column = TYPES[type];
    columns[name] = new Column(buffer, place, count);
    place += Math.ceil((count * Column.BYTES_PER_ELEMENT) / ALIGNED) * ALIGNED;
  }
  return { head, columns };
}

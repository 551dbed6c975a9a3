// Rows of numbers as the simulation sends them (rbt_ros/stream/layout.py), and the poses between two of them.
export const POSE = 10; // p_WB, q_WB (w x y z), w_WB
export const LOAD = 9; // force, moment, place

/** Where everything stands in a row. */
export class Layout {
  constructor(described, count) {
    Object.assign(this, described);
    this.count = count; // of bodies
    this.scalarNames = described.scalars.map(([name]) => name);
  }
  part(row, name) {
    const [first, count] = this.parts[name];
    return row.subarray(first, first + count);
  }
  scalar(row, name) {
    return row[this.parts.scalars[0] + this.scalarNames.indexOf(name)];
  }
  /** x, y, z of a vector among the scalars. */
  vector(row, name) {
    const at = this.parts.scalars[0] + this.scalarNames.indexOf(`${name}.x`);
    return [row[at], row[at + 1], row[at + 2]];
  }
}

/** out = the row at share u from a to b: straight for all numbers, along the shortest turn for attitudes. */
export function between(layout, a, b, u, out) {
  for (let k = 0; k < layout.size; k++) out[k] = a[k] + u * (b[k] - a[k]);
  for (let i = 0; i < layout.count; i++) slerp(a, b, u, out, POSE * i + 3);
}

function slerp(a, b, u, out, at) {
  let dot = 0;
  for (let k = 0; k < 4; k++) dot += a[at + k] * b[at + k];
  const sign = dot < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(1, sign * dot));
  const sine = Math.sin(angle);
  const [p, q] = sine < 1e-6 ? [1 - u, u] : [Math.sin((1 - u) * angle) / sine, Math.sin(u * angle) / sine];
  let size = 0;
  for (let k = 0; k < 4; k++) {
    out[at + k] = p * a[at + k] + sign * q * b[at + k];
    size += out[at + k] ** 2;
  }
  const scale = 1 / Math.sqrt(size || 1);
  for (let k = 0; k < 4; k++) out[at + k] *= scale;
}

/** Times and rows in a row, rising; `at(t)` finds what stands there. */
export class Track {
  constructor(layout, t, rows) {
    this.layout = layout;
    this.t = t; // Float64Array
    this.rows = rows; // Float32Array, one after the other
    this.out = new Float32Array(layout.size);
  }
  get first() { return this.t[0]; }
  get last() { return this.t[this.t.length - 1]; }
  row(k) { return this.rows.subarray(k * this.layout.size, (k + 1) * this.layout.size); }
  /** The last frame at or before t. */
  index(t) {
    let low = 0, high = this.t.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.t[middle] <= t) low = middle; else high = middle - 1;
    }
    return low;
  }
  at(t) {
    const k = this.index(t);
    if (k + 1 >= this.t.length || t <= this.t[k]) return this.row(k);
    between(this.layout, this.row(k), this.row(k + 1), (t - this.t[k]) / (this.t[k + 1] - this.t[k]), this.out);
    return this.out;
  }
}

/** What the server packs (web/recording.py): counts, times, rows. */
export function unpack(layout, buffer) {
  const [count, size] = new Uint32Array(buffer, 0, 2);
  if (size !== layout.size) throw new Error(`rows of ${size} numbers, not ${layout.size}`);
  const t = new Float64Array(buffer.slice(8, 8 + 8 * count));
  return new Track(layout, t, new Float32Array(buffer.slice(8 + 8 * count)));
}

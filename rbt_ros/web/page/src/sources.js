// Where rows come from: a running simulation, a recording behind our server, or a recording in this very file.
import { Track, unpack } from "./rows.js";

const token = new URLSearchParams(location.search).get("token") ?? "";
export const address = (path, query = {}) => `${path}?${new URLSearchParams({ token, ...query })}`;
const HEADER = 16; // bytes: t [s], tick, whether the row is whole
const AGAIN_MS = 1000; // between attempts to reach a server that went

/** A running simulation over a WebSocket. Calls on.scene, on.settings, on.row, on.failed, on.link. */
export class LiveSource {
  constructor(layout, on) {
    this.layout = layout;
    this.on = on;
    this.row = new Float32Array(layout.size);
    this.count = 0; // messages
    this.next = 1; // number of a command
    this.open();
  }
  open() {
    this.socket = new WebSocket(`ws://${location.host}${address("/ws")}`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.on.link(true);
    this.socket.onclose = () => { this.on.link(false); setTimeout(() => this.open(), AGAIN_MS); };
    this.socket.onmessage = ({ data }) => (typeof data === "string" ? this.told(JSON.parse(data)) : this.moved(data));
  }
  told(message) {
    if (message.scene) this.on.scene(message.scene);
    if (message.settings) this.on.settings(message.settings);
    if (message.failed) this.on.failed(message);
  }
  moved(data) {
    const head = new DataView(data);
    this.t = head.getFloat64(0, true);
    this.tick = head.getUint32(8, true);
    this.row.set(new Float32Array(data, HEADER));
    this.count += 1;
    this.on.row(this.t, this.row, head.getUint32(12, true) === 1);
  }
  send(key, value) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ id: this.next++, key, value }));
  }
}

const MOST = 4000; // frames at once

/** A recording: an overview of all of it, and all frames of a window around where one looks. */
export class RecordedSource {
  static async behindServer(layout, scene) {
    const [first, last, count] = scene.recorded;
    const source = new RecordedSource(layout);
    source.fetched = async (from, to) => {
      const answer = await fetch(address("/frames", { from, to, most: MOST }));
      return unpack(layout, await answer.arrayBuffer());
    };
    source.overview = await source.fetched(first, last);
    source.coarse = count > source.overview.t.length;
    source.share = (MOST / 2 / count) * (last - first); // [s] to both sides of where one looks
    return source;
  }
  static embedded(layout, run) {
    const source = new RecordedSource(layout);
    const t = new Float64Array(bytes(run.t).buffer);
    source.overview = new Track(layout, t, new Float32Array(bytes(run.rows).buffer));
    return source;
  }
  constructor(layout) {
    this.layout = layout;
    this.coarse = false;
    this.detail = null;
    this.pending = null;
    this.onDetail = () => {};
  }
  get first() { return this.overview.first; }
  get last() { return this.overview.last; }
  /** The row at t: from the detail where it is loaded, else from the overview while the detail is on its way. */
  at(t) {
    if (!this.coarse) return this.overview.at(t);
    const { detail, share } = this;
    const inside = detail && t >= detail.first && t <= detail.last;
    const ends = inside && ((detail.last - t < share / 2 && detail.last < this.last) || (t - detail.first < share / 2 && detail.first > this.first));
    if (!inside || ends) this.look(t); // before it is needed
    return inside ? detail.at(t) : this.overview.at(t);
  }
  async look(t) {
    if (this.pending) return;
    this.pending = this.fetched(t - this.share, t + this.share);
    try { this.detail = await this.pending; } finally { this.pending = null; }
    this.onDetail();
  }
  /** The times of the frames around t: one before, one after. */
  neighbours(t) {
    const track = this.coarse && this.detail && t >= this.detail.first && t <= this.detail.last ? this.detail : this.overview;
    const k = track.index(t);
    const before = track.t[k] < t ? k : k - 1;
    return [track.t[Math.max(0, before)], track.t[Math.min(track.t.length - 1, k + 1)]];
  }
}

function bytes(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

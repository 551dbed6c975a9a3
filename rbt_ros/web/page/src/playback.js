// Time of a recording: where it is, how fast and which way it goes. The wall clock comes from outside.
export class Playback {
  constructor(first, last, clock = () => performance.now() / 1000) {
    Object.assign(this, { first, last, start: first, stop: last, clock });
    this.t = first;
    this.rate = 1;
    this.backward = false;
    this.playing = false;
    this.loop = false;
    this.fps = 0; // 0: as often as the screen draws
    this.origin = null; // [wall, t] since when nothing was changed: no error adds up
  }
  /** t now. Without drift: the time since the last change, times the rate. */
  tick() {
    if (!this.playing) return this.t;
    if (!this.origin) this.origin = [this.clock(), this.t];
    const [wall, t] = this.origin;
    let elapsed = this.clock() - wall;
    if (this.fps > 0) elapsed = Math.floor(elapsed * this.fps + 1e-9) / this.fps;
    this.t = t + elapsed * this.rate * (this.backward ? -1 : 1);
    if (this.t > this.stop || this.t < this.start) this.reached();
    return this.t;
  }
  reached() {
    const span = this.stop - this.start;
    if (this.loop && span > 0) {
      this.t = this.start + ((((this.t - this.start) % span) + span) % span);
    } else {
      this.t = this.backward ? this.start : this.stop;
      this.playing = false;
    }
    this.origin = null;
  }
  seek(t) {
    this.t = Math.min(this.stop, Math.max(this.start, t));
    this.origin = null;
  }
  set(changes) {
    this.tick();
    Object.assign(this, changes);
    this.origin = null;
    if (this.t < this.start || this.t > this.stop) this.seek(this.t);
  }
  toggle() {
    if (!this.playing && this.t === (this.backward ? this.start : this.stop)) {
      this.seek(this.backward ? this.stop : this.start);
    }
    this.set({ playing: !this.playing });
  }
}

// The bar below a recording.
import { element } from "./panel.js";

const MEANING = {
  "×": "simulated seconds per second, 0.001 to 1000 (+ and -)",
  from: "play from there on [s]",
  to: "play up to there [s]",
  fps: "pictures per second [1/s]; 0: as the screen can",
};

export class Timeline {
  constructor(holder, playback, source, changed) {
    this.playback = playback;
    this.source = source;
    const set = (changes) => { playback.set(changes); changed(); };
    const seek = (t) => { playback.seek(t); changed(); };
    const button = (text, title, onclick) => element("button", { textContent: text, title, ariaLabel: title, onclick });
    const number = (text, value, write, low, high) => {
      const input = element("input", { type: "number", step: "any", value, ariaLabel: text });
      input.onchange = () => { if (Number.isFinite(input.valueAsNumber)) write(Math.min(high, Math.max(low, input.valueAsNumber))); input.value = read(text); };
      const read = (what) => +({ "×": playback.rate, from: playback.start, to: playback.stop, fps: playback.fps })[what].toPrecision(9);
      this.numbers.push(() => { if (document.activeElement !== input) input.value = read(text); }); // keys set them, too
      return element("label", { title: MEANING[text] }, text, input);
    };
    this.numbers = [];
    this.play = button("▶", "play or pause (space)", () => { playback.toggle(); changed(); });
    this.back = button("◀◀", "backwards (b)", () => set({ backward: !playback.backward }));
    this.again = button("⟳", "loop (l)", () => set({ loop: !playback.loop }));
    this.bar = element("input", { type: "range", min: 0, max: 1, step: "any", ariaLabel: "time" });
    this.bar.oninput = () => seek(playback.first + +this.bar.value * (playback.last - playback.first));
    this.shown = element("span", { style: "font-variant-numeric:tabular-nums;min-width:74px" });
    holder.replaceChildren(
      button("|◀", "to the start", () => seek(playback.start)), button("‹", "one frame back (,)", () => this.frame(-1)), this.play,
      button("›", "one frame on (.)", () => this.frame(1)), this.back, this.again, this.shown, this.bar,
      number("×", playback.rate, (rate) => set({ rate }), 1e-3, 1e3), number("from", playback.first, (start) => set({ start }), playback.first, playback.last),
      number("to", playback.last, (stop) => set({ stop }), playback.first, playback.last), number("fps", playback.fps, (fps) => set({ fps }), 0, 1000),
    );
    holder.hidden = false;
    this.changed = changed;
  }
  frame(way) {
    this.playback.set({ playing: false });
    const [before, after] = this.source.neighbours(this.playback.t);
    this.playback.seek(way < 0 ? before : after);
    this.changed();
  }
  follow() {
    const { first, last, t, playing, backward, loop } = this.playback;
    this.bar.value = last > first ? (t - first) / (last - first) : 0;
    this.shown.textContent = `${t.toFixed(3)} s`;
    this.play.textContent = playing ? "❚❚" : "▶";
    this.back.classList.toggle("on", backward);
    this.again.classList.toggle("on", loop);
    for (const tell of this.numbers) tell();
  }
}

// The page: a stage, a panel, and one source of rows. Everything a test needs hangs on window.rbt.
import { VRButton } from "three/addons/webxr/VRButton.js";
import { SetPanel, ShowPanel, element } from "./panel.js";
import { Playback } from "./playback.js";
import { Plots } from "./plots.js";
import { without } from "./roundoff.js";
import { Layout } from "./rows.js";
import { LiveSource, RecordedSource, address } from "./sources.js";
import { Stage } from "./stage.js";
import { MODES } from "./stereo.js";
import { Timeline } from "./timeline.js";

const GLASS = 0.35;
const $ = (id) => document.getElementById(id);
const SHORTCUTS = [
  ["space", "pause, play"], [".  ,", "one step or frame on, back"], ["r", "reset"], ["b", "backwards (recordings)"], ["l", "loop (recordings)"],
  ["+  -", "twice, half the rate"], ["h", "camera: home"], ["1 2 3 4", "camera: top, side, front, from the body"], ["f", "follow"],
  ["s", "stereo: off, side by side, cross-eyed, anaglyph"], ["o", "polhode"], ["c", "cones"], ["t", "trails"], ["d", "dark, light"], ["p", "panel"], ["?", "this sheet"],
];

/** What goes wrong, each once. */
class Notes {
  constructor(holder) { this.holder = holder; this.texts = new Set(); }
  add(text) { this.texts.add(text); this.holder.textContent = [...this.texts].join("\n"); console.warn(text); }
  remove(text) { this.texts.delete(text); this.holder.textContent = [...this.texts].join("\n"); }
}

class App {
  constructor() {
    this.notes = new Notes($("notes"));
    this.notes.changed = () => this.dirty();
    this.stage = new Stage($("canvas"), this.notes);
    this.plots = new Plots($("plots"));
    this.showPanel = new ShowPanel($("show"), this.stage, () => (this.row ? this.show(this.t, this.row) : this.dirty()));
    this.ready = false;
    this.frames = 0;
    this.needsDraw = true;
    this.manual = false; // film: nothing is drawn but by `film`
    this.stage.orbit.addEventListener("change", () => this.dirty());
  }
  dirty() { this.needsDraw = true; }

  async start() {
    this.listen();
    this.setTheme(matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
    if (window.innerWidth < 700) document.body.classList.add("folded");
    this.tab("show");
    const run = window.__RUN__;
    const scene = run?.scene ?? (await (await fetch(address("/scene"))).json());
    this.build(scene, run?.meshes);
    if (run) this.playBack(RecordedSource.embedded(this.layout, run));
    else if (scene.recorded) this.playBack(await RecordedSource.behindServer(this.layout, scene));
    else this.goLive();
    this.offerHeadset();
    new ResizeObserver(() => this.resize()).observe($("stage"));
    this.resize();
    this.stage.renderer.setAnimationLoop(() => this.loop());
  }
  build(scene, embedded) {
    document.title = `${scene.name} – rbt view`;
    $("name").textContent = scene.name;
    this.scene = scene;
    this.embedded = embedded;
    this.layout = new Layout(scene.layout, scene.bodies.length);
    for (const text of scene.warnings) this.notes.add(text);
    Object.assign(this.stage.show, scene.play?.show);
    this.stage.build(scene, embedded);
    this.plots.build(scene, this.layout);
    this.showPanel.build();
    if (this.row) this.show(this.t, this.row);
  }

  // a running simulation

  goLive() {
    this.setPanel = new SetPanel($("set"), (key, value) => this.source.send(key, value));
    const lost = "the simulation has ended, or is not reached";
    let first = true;
    this.source = new LiveSource(this.layout, {
      scene: (scene) => {
        if (JSON.stringify(scene) !== JSON.stringify(this.scene)) this.build(scene);
      },
      settings: (settings) => { this.settings = settings; this.setPanel.tell(settings); this.readState(); },
      failed: ({ failed }) => this.notes.add(failed),
      link: (up) => (up ? this.notes.remove(lost) : this.notes.add(lost)),
      row: (t, row, whole) => {
        if (t < this.t) this.stage.forgetPast();
        this.show(t, row);
        if (whole) this.plots.add(t, row);
        if (first) this.stage.home();
        first = false;
      },
    });
  }
  value(key) { return this.settings?.controls.find((control) => control.key === key)?.value; }
  readState() {
    const rate = this.value("rate");
    this.paused = this.value("pause");
    $("state").textContent = this.paused ? "paused" : rate === undefined ? "" : `× ${+rate.toPrecision(3)}`;
  }

  // a recording

  playBack(source) {
    this.source = source;
    this.playback = new Playback(source.first, source.last);
    this.playback.rate = this.scene.play?.rate ?? this.scene.rate ?? 1;
    this.playback.fps = this.scene.play?.fps ?? 0;
    this.timeline = new Timeline($("timeline"), this.playback, source, () => this.seeked());
    $("tabs").querySelector("[data-tab=set]").hidden = true;
    source.onDetail = () => this.show(this.playback.t, source.at(this.playback.t)); // where it stands still, too
    this.plots.onPick = (t) => { this.playback.seek(t); this.seeked(); };
    this.plots.fill(source.overview);
    if (this.scene.play) this.stage.follow = false;
    this.seek(source.first);
    this.stage.home();
    this.showPanel.build();
    if (this.scene.play) this.playback.set({ playing: true, backward: this.scene.play.backward ?? false, loop: this.scene.play.loop ?? false });
    if (this.playback.backward) this.playback.seek(this.playback.stop);
  }
  seeked() {
    if (this.playback.t !== this.t) this.show(this.playback.t, this.source.at(this.playback.t));
    this.timeline.follow();
    this.dirty();
  }
  /** Show time t now; for tests, and for films. */
  seek(t) {
    this.playback.seek(t);
    this.show(this.playback.t, this.source.at(this.playback.t));
    this.timeline.follow();
    return this.t;
  }
  /** From now on films only: the picture alone, of that size, drawn when it is asked for. */
  filmed(width, height) {
    this.manual = true;
    document.body.classList.add("filmed");
    this.stage.renderer.setPixelRatio(1);
    this.stage.resize(width, height);
    this.stage.home();
  }
  /** Draw time t here and now, and give the picture as a data URI. */
  film(t) {
    this.manual = true;
    this.seek(t);
    this.stage.draw();
    return this.titled(this.stage.renderer.domElement).toDataURL("image/jpeg", 0.95);
  }
  /** The picture with name and time above. */
  titled(picture) {
    const { width, height } = picture;
    this.sheet ??= document.createElement("canvas");
    Object.assign(this.sheet, { width, height });
    const pen = this.sheet.getContext("2d");
    pen.drawImage(picture, 0, 0);
    const size = Math.max(10, Math.round(height / 34));
    pen.font = `600 ${size}px system-ui, sans-serif`;
    pen.fillStyle = getComputedStyle(document.body).getPropertyValue("--ink");
    pen.fillText(this.scene.name, size, 1.7 * size);
    pen.fillText($("time").textContent, 2 * size + pen.measureText(this.scene.name).width, 1.7 * size);
    return this.sheet;
  }

  // both

  show(t, row) {
    this.t = t;
    this.row = row;
    if (this.playback) this.stage.recall(this.source.overview, t);
    this.stage.update(t, row);
    $("time").textContent = `t = ${t.toFixed(3)} s`;
    this.ready = true;
    this.dirty();
  }
  loop() {
    if (this.manual) return;
    if (this.playback) {
      const t = this.playback.tick();
      if (t !== this.t) { this.show(t, this.source.at(t)); this.timeline.follow(); }
      if (this.playback.playing !== this.wasPlaying) this.timeline.follow();
      this.wasPlaying = this.playback.playing;
    }
    const presenting = this.stage.renderer.xr.isPresenting;
    if (this.needsDraw || presenting) {
      this.needsDraw = false;
      this.stage.draw();
      this.frames += 1;
      this.readOut();
      this.showPanel.followCamera();
    }
    if (!this.playback) this.plots.maybe(performance.now());
  }
  readOut() {
    const { stage } = this;
    const made = stage.bodies[stage.selected];
    const halved = MODES.indexOf(stage.stereo.mode) === 1 || MODES.indexOf(stage.stereo.mode) === 2; // one eye would see it
    $("readout").hidden = !made || !this.row || halved;
    if ($("readout").hidden) return;
    const { body } = made;
    const known = !this.scene.known;
    const L = stage.spinMomentum(made);
    const spin = L.reduce((sum, x, k) => sum + (x * made.w[k]) / 2, 0);
    const size = Math.hypot(...L);
    const [v] = this.layout.parts.velocity;
    const rows = [
      ["p [m]", ...made.group.position.toArray()], ["ω [rad/s]", ...made.w],
      ...(known ? [["v [m/s]", ...this.row.subarray(v + 3 * stage.selected, v + 3 * stage.selected + 3)]] : []),
      ["spin angular momentum [N·m·s]", ...L],
      ["rotational energy [J]", spin], ["min, max energy at this |L| [J]", ...(body.moments[0] > 0 ? [(size * size) / (2 * body.moments[2]), (size * size) / (2 * body.moments[0])] : [])],
    ];
    $("readout").replaceChildren(element("b", { textContent: `${body.name}, ${+body.mass.toPrecision(5)} kg; world axes` }), element("table", {}, ...rows.map(([name, ...numbers]) => element("tr", {}, element("td", { textContent: name }), ...without(numbers).map((x) => element("td", { textContent: compact(x) }))))));
  }
  resize() {
    const { clientWidth, clientHeight } = $("stage");
    if (clientWidth && clientHeight && !this.manual) this.stage.resize(clientWidth, clientHeight);
    this.dirty();
  }

  // hands

  listen() {
    for (const button of $("tabs").querySelectorAll("[data-tab]")) button.onclick = () => this.tab(button.dataset.tab);
    $("theme").onclick = () => this.press("d");
    $("help-button").onclick = () => this.press("?");
    $("fold").onclick = $("unfold").onclick = () => this.press("p");
    addEventListener("keydown", (event) => {
      const typed = event.target.matches("select, input[type=number]") || (event.key === " " && event.target.matches("input"));
      if (typed || event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : "";
      if (key && this.press(key)) event.preventDefault();
    });
    let down = null;
    $("canvas").addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; });
    $("canvas").addEventListener("pointerup", (event) => {
      if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
      const box = $("canvas").getBoundingClientRect();
      this.select(this.stage.pick((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height));
    });
    $("help").append(element("h2", { textContent: "Shortcuts" }), element("table", {}, ...SHORTCUTS.map(([keys, text]) => element("tr", {}, element("td", {}, ...keys.split(/ +/).map((key) => element("kbd", { textContent: key }))), element("td", { textContent: text })))), element("p", { textContent: "Drag turns, the wheel zooms, the right button shifts; a click on a body shows its numbers. A double click into a plot of a recording goes to that time." }), element("button", { textContent: "close", onclick: () => $("help").close() }));
  }
  select(index) {
    document.body.classList.toggle("picked", index >= 0); // on a small screen its numbers cover the scene
    if (index < 0) return;
    this.stage.selected = index;
    this.stage.most = undefined; // its ω is drawn
    this.stage.picked = true;
    this.stage.poinsot.forget();
    if (this.row) this.show(this.t, this.row);
  }
  /** Do what a key stands for; whether it stands for anything. */
  press(key) {
    const { stage, playback } = this;
    const views = { h: "home", 1: "top", 2: "side", 3: "front", 4: "body" };
    if (views[key]) stage.setView(views[key]);
    else if (key === "d") this.setTheme(stage.look === "dark" ? "light" : "dark");
    else if (key === "p") document.body.classList.toggle("folded");
    else if (key === "?") this.help();
    else if (key === "f") stage.follow = !stage.follow;
    else if (key === "s") stage.stereo.mode = MODES[(MODES.indexOf(stage.stereo.mode) + 1) % MODES.length];
    else if (key === "o") { stage.poinsot.show.polhode = stage.poinsot.show.herpolhode = !stage.poinsot.show.polhode; this.seeThrough(); }
    else if (key === "c") { stage.poinsot.show.cones = !stage.poinsot.show.cones; this.seeThrough(); }
    else if (key === "t") stage.show.trails = !stage.show.trails;
    else if (playback ? !this.playKey(key) : !this.liveKey(key)) return false;
    if ("sofct".includes(key)) this.showPanel.build();
    if (this.row) this.show(this.t, this.row);
    return true;
  }
  help() {
    const sheet = $("help");
    if (sheet.open) { sheet.close(); return; }
    sheet.showModal();
    sheet.scrollTop = 0; // opening goes to the button at its end
  }
  /** Bodies are glass while Poinsot's construction lies in them, unless one has chosen an opacity. */
  seeThrough() {
    const { stage } = this;
    if (stage.poinsot.wanted && stage.opacity === 1) stage.setOpacity(GLASS);
    else if (!stage.poinsot.wanted && stage.opacity === GLASS) stage.setOpacity(1);
  }
  playKey(key) {
    const { playback, timeline } = this;
    if (key === " ") playback.toggle();
    else if (key === "." || key === ",") timeline.frame(key === "." ? 1 : -1);
    else if (key === "b") playback.set({ backward: !playback.backward });
    else if (key === "l") playback.set({ loop: !playback.loop });
    else if (key === "r") { playback.seek(playback.start); this.stage.forgetPast(); }
    else if (key === "+" || key === "-") playback.set({ rate: Math.min(1e3, Math.max(1e-3, playback.rate * (key === "+" ? 2 : 0.5))) });
    else return false;
    this.seeked();
    return true;
  }
  liveKey(key) {
    if (key === " ") this.source.send("pause", !this.paused);
    else if (key === ".") this.source.send("step", 1);
    else if (key === "r") this.source.send("reset", null);
    else if (key === "+" || key === "-") this.source.send("rate", Math.min(1e3, Math.max(1e-3, this.value("rate") * (key === "+" ? 2 : 0.5))));
    else return false;
    return true;
  }
  tab(name) {
    for (const part of document.querySelectorAll(".tab")) part.classList.toggle("on", part.id === name);
    for (const button of $("tabs").querySelectorAll("[data-tab]")) button.classList.toggle("on", button.dataset.tab === name);
    if (name === "plots") this.plots.restyle();
    this.plots.redraw();
  }
  setTheme(look) {
    document.documentElement.dataset.theme = look;
    this.stage.setLook(look);
    if (this.layout) this.plots.restyle();
    this.dirty();
  }
  async offerHeadset() {
    if (!(await navigator.xr?.isSessionSupported("immersive-vr").catch(() => false))) return;
    const { renderer } = this.stage;
    renderer.xr.enabled = true;
    $("stage").append(VRButton.createButton(renderer));
  }
}

function compact(x) {
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? x.toExponential(2) : x.toFixed(size < 10 ? 4 : 2);
}

window.rbt = new App();
window.rbt.start().catch((error) => window.rbt.notes.add(`the view cannot start: ${error.message}`));

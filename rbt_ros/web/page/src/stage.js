// The scene: bodies, frames, arrows, trails, ropes, cameras. It shows a row; it knows nothing of where rows come from.
import {
  AmbientLight, AxesHelper, BufferAttribute, BufferGeometry, Color, DirectionalLight, GridHelper, Group, HemisphereLight,
  Line, LineBasicMaterial, PerspectiveCamera, Quaternion, Raycaster, Scene, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { brief, label, spread, write } from "./letters.js";
import { SLOWEST, faintMomentum } from "./roundoff.js";
import { LOAD, Layout, POSE } from "./rows.js";
import { Arrow, fade, shapeObject } from "./shapes.js";
import { Poinsot } from "./poinsot.js";
import { Stereo } from "./stereo.js";
import { Trail } from "./trail.js";

export const ARROWS = { // what, colour, unit
  omega: ["ω", "#ff9f43", "rad/s"],
  L: ["L", "#ff5ccd", "N·m·s"],
  force: ["F", "#ff5252", "N"],
  moment: ["M", "#ffd24a", "N·m"],
  gravity: ["g", "#8fa3b8", "m/s²"],
};
const PAST = 600; // points of a trail in a recording
const REACH = 1.05; // of the longest arrow, as a share of the scene's size: its letter is in the picture, too
const LOOKS = { dark: { back: "#10141a", grid: ["#3a4656", "#222b36"] }, light: { back: "#eef1f5", grid: ["#a9b4c2", "#d5dce5"] } };

export class Stage {
  constructor(canvas, notes) {
    this.notes = notes;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.scene = new Scene();
    this.world = new Group(); // z up; turned while a headset shows it
    this.scene.add(this.world);
    this.camera = new PerspectiveCamera(40, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.stereo = new Stereo(this.renderer);
    const sun = new DirectionalLight(0xffffff, 1.6);
    sun.position.set(3, -4, 6);
    this.scene.add(new AmbientLight(0xffffff, 0.35), new HemisphereLight(0xffffff, 0x556070, 1.1), sun);
    this.show = { bodies: true, worldAxes: true, bodyAxes: true, omega: true, L: true, force: true, moment: true, gravity: false, trails: true, ropes: true, grid: true, labels: true };
    this.scales = { omega: 1, L: 1, force: 1, moment: 1, gravity: 1 };
    this.opacity = 1;
    this.follow = true;
    this.view = "orbit"; // or "body": seen from the body
    this.look = "dark";
    this.bodies = [];
  }

  /** Build what a scene describes; the camera stays where one has moved it. */
  build(described, embedded) {
    const first = !this.described;
    this.described = described;
    this.layout = new Layout(described.layout, described.bodies.length);
    this.size = described.size;
    this.clear();
    this.bodies = described.bodies.map((body) => this.makeBody(body, embedded));
    this.ropes = described.ropes.map((rope) => this.makeRope(rope));
    this.worldAxes = this.frame(this.world, 1.1 * this.size);
    this.gravity = this.arrow("gravity");
    this.totalL = this.arrow("L");
    this.poinsot = new Poinsot(this.world, 1.1 * this.size);
    if (this.shownPoinsot) Object.assign(this.poinsot.show, this.shownPoinsot);
    this.shownPoinsot = this.poinsot.show;
    this.selected = Math.min(this.selected ?? Math.max(0, described.bodies.findIndex((body) => body.floats)), this.bodies.length - 1);
    this.setLook(this.look);
    this.setOpacity(this.opacity);
    this.fitLetters(this.renderer.domElement.clientHeight || 720);
    if (first) this.home();
  }
  clear() {
    for (const child of [...this.world.children]) this.world.remove(child);
    this.grid = null;
    this.letters = [];
  }
  makeBody(body, embedded) {
    const group = new Group();
    const shapes = new Group();
    const missing = (text, holder, file) => {
      this.notes.add(text.includes(body.name) ? text : `body '${body.name}': ${text}; a box stands for it.`);
      const name = this.letter(file, 0.09 * this.size, "#ff4fa0");
      name.position.z = 0.08;
      holder.add(name);
      this.fitLetters(this.height);
      this.notes.changed();
    };
    for (const shape of body.shapes) shapes.add(shapeObject(shape, embedded, missing));
    group.add(shapes);
    this.world.add(group);
    const made = { body, group, shapes, axes: this.frame(group, (this.described.bodies.length > 1 ? 0.3 : 0.7) * this.size, 2), com: new Vector3(), w: [0, 0, 0] };
    made.label = this.letter(body.name, 0.09 * this.size, "#9aa7b8");
    this.world.add(made.label);
    for (const key of ["omega", "force", "moment"]) made[key] = this.arrow(key);
    made.trail = new Trail(this.world, body.colour);
    return made;
  }
  makeRope(rope) {
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(3 * 25), 3));
    const line = new Line(geometry, new LineBasicMaterial({ color: 0xd9c08a }));
    line.frustumCulled = false;
    this.world.add(line);
    return { rope, line };
  }
  /** A word in the scene; larger where the picture is small or shows much, but at most `most` times. */
  letter(text, height, color, most = Infinity, widest = text) {
    const sprite = label(text, height, color, widest);
    Object.assign(sprite.userData, { scale: sprite.scale.clone(), most });
    this.letters.push(sprite);
    return sprite;
  }
  fitLetters(height) {
    this.height = height;
    this.enlarged = Math.min(2, Math.max(1, 560 / height)) * (this.breadth ?? 1);
    for (const { scale, userData } of this.letters) scale.copy(userData.scale).multiplyScalar(Math.min(this.enlarged, userData.most));
  }
  /** Axes with letters; those of bodies stay small beside their axes. */
  frame(parent, size, most) {
    const axes = new AxesHelper(size);
    parent.add(axes);
    for (const [letter, at, color] of [["x", [1, 0, 0], "#ff6b6b"], ["y", [0, 1, 0], "#51cf66"], ["z", [0, 0, 1], "#5c9dff"]]) {
      const sprite = this.letter(letter, 0.085 * this.size, color, most);
      sprite.position.set(...at).multiplyScalar(1.06 * size);
      axes.add(sprite);
    }
    return axes;
  }
  arrow(key) {
    const [letter, color, unit] = ARROWS[key];
    const arrow = new Arrow(new Color(color), (key === "force" || key === "moment" ? 0.022 : 0.014) * this.size);
    arrow.label = this.letter(`${letter} [${unit}]`, 0.075 * this.size, color, Infinity, `${letter} 8.88e-8 ${unit}`);
    this.world.add(arrow.group, arrow.label);
    return arrow;
  }

  /** Show a row of numbers at time t. */
  update(t, row) {
    this.t = t;
    const { layout } = this;
    const loads = layout.part(row, "load");
    this.bodies.forEach((made, i) => {
      const at = POSE * i;
      const { body, group } = made;
      group.position.set(row[at], row[at + 1], row[at + 2]);
      group.quaternion.set(row[at + 4], row[at + 5], row[at + 6], row[at + 3]);
      made.com.set(...body.com).applyQuaternion(group.quaternion).add(group.position);
      made.w = [row[at + 7], row[at + 8], row[at + 9]];
      const there = (body.from ?? -Infinity) <= t && t < (body.until ?? Infinity);
      group.visible = there;
      made.shapes.visible = this.show.bodies;
      made.axes.visible = this.show.bodyAxes;
      made.label.visible = there && this.show.labels && this.bodies.length > 1;
      this.name(made, i);
      if (there) made.trail.extend(t, made.com);
      made.trail.line.visible = there && this.show.trails;
      const load = loads.subarray(LOAD * i, LOAD * (i + 1));
      this.point(made.omega, "omega", made.com, made.w, there && (body.floats || i === this.selected), SLOWEST);
      this.point(made.force, "force", [load[6], load[7], load[8]], load.subarray(0, 3), there);
      this.point(made.moment, "moment", made.com, load.subarray(3, 6), there);
    });
    this.showTotal(row);
    for (const { rope, line } of this.ropes) this.hang(rope, line);
    const picked = this.bodies[this.selected];
    if (picked) this.poinsot.update(picked.body, picked.com, picked.group.quaternion, picked.w);
    this.worldAxes.visible = this.show.worldAxes;
    if (this.grid) this.grid.visible = this.show.grid;
    this.move();
  }
  /** The body's name stands above it; above that of another one that is at the same place. */
  name({ label, com }, i) {
    const line = 0.09 * this.size * this.enlarged;
    label.position.copy(com).z += 0.05 * this.size + line;
    for (const other of this.bodies.slice(0, i)) {
      if (other.label.visible && other.label.userData.base.distanceTo(label.position) < 0.5 * line) label.position.z += line;
    }
    label.userData.base = label.position.clone();
  }
  showTotal(row) {
    const com = this.layout.vector(row, "com");
    const alone = () => (this.bodies.length === 1 ? this.spinMomentum(this.bodies[0]) : [0, 0, 0]);
    const L = this.described.known ? alone() : this.layout.vector(row, "L");
    this.com = com;
    this.point(this.totalL, "L", com, L, true, faintMomentum(this.bodies, com));
    this.point(this.gravity, "gravity", com, this.described.gravity, true);
  }
  /** L of a body about its centre of mass, world axes. */
  spinMomentum({ body, group, w }) {
    const inBody = new Vector3(...w).applyQuaternion(group.quaternion.clone().invert());
    const I = body.inertia;
    const L = new Vector3(...[0, 1, 2].map((k) => I[k][0] * inBody.x + I[k][1] * inBody.y + I[k][2] * inBody.z));
    return L.applyQuaternion(group.quaternion).toArray();
  }
  /** An arrow whose length is the size of the scene for the largest value so far, times the slider; none for `faint`. */
  point(arrow, key, from, along, wanted, faint = 0) {
    const value = Math.hypot(...along);
    const there = wanted && value > faint;
    this.largest ??= {};
    if (there) this.largest[key] = Math.max(this.largest[key] ?? 0, value); // of those that are drawn
    const reach = key === "force" ? 0.8 * REACH : REACH; // it begins where it acts
    const fitting = this.largest[key] > 0 ? (reach * this.size) / this.largest[key] : 0;
    // with the ellipsoid of ω shown, ω reaches to it
    const length = key === "omega" && this.poinsot.wanted && this.poinsot.unit ? this.poinsot.unit : fitting * this.scales[key];
    const place = from.toArray ? from.toArray() : from;
    arrow.set(place, [...along].map((x) => x * length));
    arrow.value = value;
    arrow.group.visible &&= there && this.show[key];
    arrow.label.visible = arrow.group.visible && this.show.labels;
    const [letter, , unit] = ARROWS[key];
    write(arrow.label, `${letter} ${brief(value)} ${unit}`);
    const beyond = length + (0.16 * this.size * this.enlarged) / (value || 1); // the letter is not on the tip
    if (arrow.label.visible) arrow.label.position.set(...place.map((p, k) => p + along[k] * beyond));
    arrow.label.userData.base = arrow.label.position.clone();
  }
  hang(rope, line) {
    const [a, b] = rope.bodies.map((i, k) => {
      const point = new Vector3(...rope.at[k]);
      return i < 0 ? point : point.applyQuaternion(this.bodies[i].group.quaternion).add(this.bodies[i].group.position);
    });
    const slack = Math.sqrt(Math.max(0, rope.length ** 2 - a.distanceTo(b) ** 2)) * 0.35; // a hint, not a catenary
    const g = new Vector3(...this.described.gravity);
    const down = g.length() > 0 ? g.normalize() : new Vector3(0, 0, -1);
    const at = line.geometry.attributes.position;
    for (let k = 0; k < 25; k++) {
      const u = k / 24;
      const point = a.clone().lerp(b, u).addScaledVector(down, slack * 4 * u * (1 - u));
      at.setXYZ(k, point.x, point.y, point.z);
    }
    at.needsUpdate = true;
    line.visible = this.show.ropes;
  }
  /** Of a recording: the past of t is what the track says, whatever was shown before. */
  recall(track, t) {
    this.forgetPast();
    this.largest = this.most ??= this.survey(track);
    const end = track.index(t);
    const stride = Math.max(1, Math.ceil(end / PAST));
    const turn = new Quaternion(), point = new Vector3();
    for (let k = end % stride; k <= end; k += stride) {
      const row = track.row(k);
      this.bodies.forEach(({ body, trail }, i) => {
        const at = POSE * i;
        turn.set(row[at + 4], row[at + 5], row[at + 6], row[at + 3]);
        point.set(...body.com).applyQuaternion(turn);
        trail.extend(track.t[k], point.set(point.x + row[at], point.y + row[at + 1], point.z + row[at + 2]));
      });
      const at = POSE * this.selected + 7;
      if (this.poinsot.wanted) this.poinsot.trace.push([row[at], row[at + 1], row[at + 2]]);
    }
  }
  /** The largest of each arrow in a track. */
  survey(track) {
    const most = {};
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const see = (key, v) => { most[key] = Math.max(most[key] ?? 0, Math.hypot(...v)); };
    for (let k = 0; k < track.t.length; k++) {
      const row = track.row(k);
      see("L", this.layout.vector(row, "L"));
      this.bodies.forEach((made, i) => {
        for (let k = 0; k < 3; k++) {
          low[k] = Math.min(low[k], row[POSE * i + k] - made.body.reach);
          high[k] = Math.max(high[k], row[POSE * i + k] + made.body.reach);
        }
        if (made.body.floats || i === this.selected) see("omega", row.subarray(POSE * i + 7, POSE * i + 10));
        const load = this.layout.part(row, "load").subarray(LOAD * i, LOAD * i + 6);
        see("force", load.subarray(0, 3));
        see("moment", load.subarray(3, 6));
      });
    }
    const centre = low.map((x, k) => (x + high[k]) / 2);
    let reach = 0; // of the ball about the centre that holds all bodies at all times
    for (let k = 0; k < track.t.length; k++) {
      const row = track.row(k);
      this.bodies.forEach(({ body }, i) => {
        const away = Math.hypot(row[POSE * i] - centre[0], row[POSE * i + 1] - centre[1], row[POSE * i + 2] - centre[2]);
        reach = Math.max(reach, away + body.reach);
      });
    }
    this.extent = { centre: new Vector3(...centre), reach };
    return most;
  }
  forgetPast() {
    for (const made of this.bodies) made.trail.clear();
    this.poinsot.forget();
    this.largest = {};
  }

  // cameras

  /** Where one looks: the centre of mass of all, or the picked body. */
  target() {
    if (!this.follow && this.extent) return this.extent.centre.clone();
    if (this.bodies.length > 1 && this.picked) return this.bodies[this.selected].com.clone();
    return new Vector3(...(this.com ?? [0, 0, 0]));
  }
  move() {
    const target = this.target();
    const path = this.described.camera;
    if (path && this.followPath !== false) { this.alongPath(path); return; }
    if (this.view === "body") {
      this.ride();
      return;
    }
    if (this.follow) {
      const moved = target.clone().sub(this.orbit.target);
      this.orbit.target.copy(target);
      this.camera.position.add(moved);
    }
  }
  /** Camera at f(t): rows of t, eye, target. */
  alongPath(path) {
    let k = path.findIndex(([t]) => t > this.t);
    k = k < 0 ? path.length - 1 : Math.max(1, k);
    const [a, b] = [path[Math.max(0, k - 1)], path[k]];
    const u = b[0] > a[0] ? Math.min(1, Math.max(0, (this.t - a[0]) / (b[0] - a[0]))) : 0;
    const value = a.map((x, n) => x + u * (b[n] - x));
    this.camera.position.set(...value.slice(1, 4));
    this.orbit.target.set(...value.slice(4, 7));
    this.camera.lookAt(this.orbit.target);
  }
  /** Seen from the body: the camera turns with it, so that it stands still and the world moves. */
  ride() {
    const { group, com } = this.bodies[this.selected];
    this.riding ??= this.camera.position.clone().sub(this.orbit.target).applyQuaternion(new Quaternion().copy(this.rideStart ?? group.quaternion).invert());
    this.orbit.target.copy(com);
    this.camera.position.copy(this.riding).applyQuaternion(group.quaternion).add(com);
    this.camera.up.set(0, 0, 1).applyQuaternion(group.quaternion);
    this.camera.lookAt(com);
  }
  setView(name) {
    this.camera.up.set(0, 0, 1);
    this.riding = null;
    this.view = name === "body" ? "body" : "orbit";
    this.orbit.enabled = this.view === "orbit";
    const away = { top: [0, -1e-4, 1], side: [0, -1, 0], front: [1, 0, 0], home: [0.8, -1.1, 0.62] }[name];
    if (away) this.lookFrom(away);
    if (this.view === "body") this.ride();
  }
  home() { this.setView("home"); }
  lookFrom(direction) {
    const distance = this.fitting();
    this.orbit.target.copy(this.target());
    this.camera.position.copy(new Vector3(...direction).normalize().multiplyScalar(distance)).add(this.orbit.target);
    this.camera.near = distance / 200;
    this.camera.far = distance * 200;
    this.camera.updateProjectionMatrix();
    this.orbit.update();
    this.fitLetters(this.height);
  }
  fitting() {
    const centre = this.target();
    const spread = Math.max(...this.places().map((place) => place.distanceTo(centre)), 0) + 1.2 * this.size;
    const reach = !this.follow && this.extent ? Math.max(this.extent.reach, 1.2 * this.size) : spread;
    this.breadth = reach / (1.2 * this.size); // of the picture, against that of one body
    return (1.2 * reach) / Math.tan((this.camera.fov * Math.PI) / 360);
  }
  /** What shall be in the picture: bodies, and where they hang on the world. */
  places() {
    const hung = this.bodies.filter(({ body }) => body.parent < 0 && !body.floats).map(({ group }) => group.position);
    const tied = this.ropes.flatMap(({ rope }) => rope.at.filter((_, k) => rope.bodies[k] < 0).map((at) => new Vector3(...at)));
    return [...this.bodies.map(({ com }) => com), ...hung, ...tied];
  }
  /** Longitude -180 to 180°, colatitude 0 (above) to 180°, of the camera about what it looks at. */
  get longitude() { const d = this.away(); return (Math.atan2(d.y, d.x) * 180) / Math.PI; }
  get colatitude() { const d = this.away(); return (Math.acos(Math.max(-1, Math.min(1, d.z / d.length()))) * 180) / Math.PI; }
  away() { return this.camera.position.clone().sub(this.orbit.target); }
  turnTo(longitude, colatitude) {
    const [a, b] = [(longitude * Math.PI) / 180, (Math.min(179.99, Math.max(0.01, colatitude)) * Math.PI) / 180];
    const r = this.away().length();
    this.camera.position.set(Math.sin(b) * Math.cos(a), Math.sin(b) * Math.sin(a), Math.cos(b)).multiplyScalar(r).add(this.orbit.target);
    this.orbit.update();
  }

  // looks

  setLook(look) {
    this.look = look;
    this.scene.background = new Color(LOOKS[look].back);
    if (this.grid) this.world.remove(this.grid);
    const cell = 10 ** Math.floor(Math.log10(this.size ?? 1));
    this.grid = new GridHelper(40 * cell, 40, ...LOOKS[look].grid);
    this.grid.rotateX(Math.PI / 2);
    const weightless = !this.described?.gravity.some(Boolean);
    if (weightless) this.grid.position.z = -1.6 * (this.size ?? 0); // below what floats, not through it
    this.world.add(this.grid);
  }
  setOpacity(share) {
    this.opacity = share;
    for (const { shapes } of this.bodies) shapes.traverse((part) => { if (part.isMesh) fade(part.material, share); });
  }
  resize(width, height) {
    this.renderer.setSize(width, height, false);
    this.fitLetters(height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }
  draw() {
    if (this.view === "orbit" && !this.renderer.xr.isPresenting) this.orbit.update();
    this.camera.updateMatrixWorld();
    if (!this.renderer.xr.isPresenting) spread(this.words(), this.camera);
    this.world.rotation.x = this.renderer.xr.isPresenting ? -Math.PI / 2 : 0; // in a headset y is up
    if (this.renderer.xr.isPresenting) this.renderer.render(this.scene, this.camera);
    else this.stereo.render(this.scene, this.camera, this.away().length());
  }
  /** The labels that are shown: of arrows, then names. */
  words() {
    const arrows = [this.totalL, this.gravity, ...this.bodies.flatMap(({ omega, force, moment }) => [omega, force, moment])];
    const labels = [...arrows.map((arrow) => arrow?.label), ...this.bodies.map((made) => made.label)];
    return labels.filter((each) => each?.visible && each.userData.base);
  }
  /** The body under a point of the canvas (0 to 1 from its left and top), or -1. */
  pick(x, y) {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(2 * x - 1, 1 - 2 * y), this.camera);
    const [hit] = ray.intersectObjects(this.bodies.map(({ shapes }) => shapes), true);
    if (!hit) return -1;
    let object = hit.object;
    while (object) {
      const found = this.bodies.findIndex(({ shapes }) => shapes === object);
      if (found >= 0) return found;
      object = object.parent;
    }
    return -1;
  }
}

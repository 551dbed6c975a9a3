// Plots over time of whatever stands in the rows.
import uPlot from "uplot";
import { POSE } from "./rows.js";

const KEPT = 1500; // whole rows of a live run
const COLOURS = ["#4e9bff", "#ff9f43", "#3fc380", "#ff5ccd"];
const REDRAW_MS = 200;

/** Everything that can be plotted: name -> [labels, (row) => numbers]. */
export function quantities(described, layout) {
  const found = new Map();
  const add = (name, labels, read) => found.set(name, [labels, read]);
  const scalar = (name) => (row) => layout.scalar(row, name);
  const everything = !described.known;
  if (everything) {
    const [kinetic, potential] = [scalar("energy.kinetic"), scalar("energy.potential")];
    add("energy [J]", ["total", "kinetic", "potential"], (row) => [kinetic(row) + potential(row), kinetic(row), potential(row)]);
    add("L about the CoM [N·m·s]", ["x", "y", "z", "|L|"], (row) => { const L = layout.vector(row, "L"); return [...L, Math.hypot(...L)]; });
    add("momentum [kg·m/s]", ["x", "y", "z"], (row) => layout.vector(row, "P"));
    add("drift of energy and L [-]", ["energy", "L"], (row) => [scalar("drift.energy")(row), scalar("drift.L")(row)]);
    add("| |q| - 1 | [-]", ["largest"], (row) => [scalar("drift.q")(row)]);
  }
  described.bodies.forEach(({ name, com }, i) => {
    const at = POSE * i;
    add(`${name}: ω [rad/s]`, ["x", "y", "z"], (row) => [row[at + 7], row[at + 8], row[at + 9]]);
    add(`${name}: ω in the body [rad/s]`, ["x", "y", "z"], (row) => inBody(row.subarray(at + 3, at + 7), row.subarray(at + 7, at + 10)));
    add(`${name}: position [m]`, ["x", "y", "z"], (row) => [row[at], row[at + 1], row[at + 2]]);
    add(`${name}: attitude q [-]`, ["w", "x", "y", "z"], (row) => [...row.subarray(at + 3, at + 7)]);
    const [v] = layout.parts.velocity;
    if (everything) add(`${name}: velocity [m/s]`, ["x", "y", "z"], (row) => [...row.subarray(v + 3 * i, v + 3 * i + 3)]);
  });
  if (!everything) return found;
  layout.joints.forEach((joint, k) => {
    const [[p], [v]] = [layout.parts.position, layout.parts.rate];
    add(`${joint}: position [rad, m]`, ["position"], (row) => [row[p + k]]);
    add(`${joint}: rate [rad/s, m/s]`, ["rate"], (row) => [row[v + k]]);
  });
  described.ropes.slice(0, layout.parts.tension[1]).forEach(({ name }, k) => add(`${name}: tension [N]`, ["tension"], (row) => [row[layout.parts.tension[0] + k]]));
  return found;
}

/** The conjugate of q = w x y z turns v. */
function inBody([w, x, y, z], [a, b, c]) {
  const [p, q, r] = [2 * (-y * c + z * b), 2 * (-z * a + x * c), 2 * (-x * b + y * a)];
  return [a + w * p - y * r + z * q, b + w * q - z * p + x * r, c + w * r - x * q + y * p];
}

/** The range of an axis: at least 1e-4 of the numbers, which are float32: a staircase of their round-off is no curve. */
export function wide(low, high) {
  if (low === null || high === null) return [-1, 1];
  const least = 1e-4 * Math.max(Math.abs(low), Math.abs(high)) || 1e-12;
  const more = Math.max(0.06 * (high - low), (least - (high - low)) / 2);
  return [low - more, high + more];
}

export class Plots {
  constructor(holder) {
    this.holder = holder;
    this.t = [];
    this.rows = [];
    this.drawn = 0;
    this.onPick = () => {};
  }
  build(described, layout) {
    this.layout = layout;
    this.quantities = quantities(described, layout);
    const names = [...this.quantities.keys()];
    const first = ["ω in the body [rad/s]", "attitude q [-]", "position [m]"].map((what) => `${described.bodies[0].name}: ${what}`);
    const wanted = this.slots?.map(({ name }) => name) ?? [...names.filter((name) => name.startsWith("energy") || name.startsWith("L about")), ...first].slice(0, 3);
    this.holder.replaceChildren();
    this.slots = wanted.map((name) => this.slot(this.quantities.has(name) ? name : names[0], names));
  }
  slot(name, names) {
    const box = document.createElement("div");
    box.className = "plot";
    const choice = document.createElement("select");
    choice.style.maxWidth = "100%";
    choice.ariaLabel = "what is plotted";
    for (const each of names) choice.add(new Option(each, each, false, each === name));
    const made = { name, box, choice };
    choice.onchange = () => { made.name = choice.value; this.remake(made); };
    box.append(choice);
    this.holder.append(box);
    this.remake(made);
    return made;
  }
  remake(slot) {
    slot.chart?.destroy();
    const [labels] = this.quantities.get(slot.name);
    const ink = getComputedStyle(document.body).getPropertyValue("--faint");
    const line = getComputedStyle(document.body).getPropertyValue("--line");
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
    const number = (u, value) => (value === null || value === undefined ? "–" : value.toPrecision(4));
    slot.chart = new uPlot({
      width: Math.max(200, this.holder.clientWidth - 24 || 290),
      height: 150,
      scales: { x: { time: false }, y: { range: (u, low, high) => wide(low, high) } },
      axes: [axis, { ...axis, size: 56, space: 16, values: (u, ticks) => ticks.map((tick) => Number(tick.toPrecision(7)).toString()) }],
      series: [{ label: "t [s]", value: number }, ...labels.map((label, k) => ({ label, stroke: COLOURS[k], width: 1.5, value: number }))],
      hooks: { setCursor: [] },
    }, this.data(slot), slot.box);
    slot.chart.over.addEventListener("dblclick", () => this.onPick(slot.chart.posToVal(slot.chart.cursor.left, "x")));
  }
  data(slot) {
    const [labels, read] = this.quantities.get(slot.name);
    const columns = labels.map(() => new Array(this.rows.length));
    this.rows.forEach((row, k) => read(row).forEach((value, c) => { columns[c][k] = Number.isFinite(value) ? value : null; }));
    return [this.t, ...columns];
  }
  /** A whole row of a live run. */
  add(t, row) {
    if (this.t.length && t <= this.t.at(-1)) {
      if (t < this.t.at(-1)) { this.t = []; this.rows = []; } // it was reset
      else return;
    }
    this.t.push(t);
    this.rows.push(row.slice());
    if (this.t.length > KEPT) { this.t.shift(); this.rows.shift(); }
  }
  /** All of a recording. */
  fill(track) {
    this.t = [...track.t];
    this.rows = this.t.map((_, k) => track.row(k));
    this.redraw();
  }
  redraw() {
    if (!this.holder.classList.contains("on")) return;
    for (const slot of this.slots ?? []) slot.chart.setData(this.data(slot));
  }
  maybe(now) {
    if (now - this.drawn < REDRAW_MS) return;
    this.drawn = now;
    this.redraw();
  }
  restyle() { for (const slot of this.slots ?? []) this.remake(slot); }
}

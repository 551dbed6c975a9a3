// The panel: what is shown, and what can be set on the simulation. The second comes from the simulation itself.
import { ARROWS } from "./stage.js";
import { MODES } from "./stereo.js";

export const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

const SEND_MS = 60; // between two values of a slider

/** What is drawn. */
export class ShowPanel {
  constructor(holder, stage, changed) {
    this.holder = holder;
    this.stage = stage;
    this.changed = changed;
  }
  build() {
    const { stage } = this;
    const checks = (title, entries, on) => [element("h3", { textContent: title }), element("div", { className: "checks" }, ...entries.map(([key, text, color]) => this.check(on, key, text, color)))];
    const held = this.holder.contains(document.activeElement) && document.activeElement.id; // keeps the keys
    const arrows = Object.entries(ARROWS).map(([key, [letter, color, unit]]) => [key, `${letter} [${unit}]`, color]);
    this.holder.replaceChildren(
      ...checks("Draw", [["bodies", "bodies"], ["worldAxes", "world axes"], ["bodyAxes", "body axes"], ["trails", "trails"], ["ropes", "ropes"], ["grid", "grid"], ["labels", "labels"]], stage.show),
      this.slider("opacity", 0.05, 1, stage.opacity, (x) => stage.setOpacity(x)),
      ...checks("Arrows", arrows, stage.show),
      ...arrows.map(([key, text]) => this.slider(`length of ${text.split(" ")[0]}`, 0.1, 3, stage.scales[key], (x) => { stage.scales[key] = x; })),
      ...checks("Poinsot", [["polhode", "polhode, ellipsoid", "#ffd24a"], ["herpolhode", "herpolhode, plane", "#7af0b5"], ["cones", "cones"], ["sphere", "momentum ellipsoid", "#ff6ad5"]], stage.poinsot.show),
      element("h3", { textContent: "Camera" }),
      this.buttons([["home", "home"], ["top", "top"], ["side", "side"], ["front", "front"], ["body", "from body"]], (view) => stage.setView(view)),
      this.check(stage, "follow", "follow"),
      (this.longitude = this.slider("longitude", -180, 180, 0, (x) => stage.turnTo(x, stage.colatitude), "°")),
      (this.colatitude = this.slider("colatitude", 0, 180, 60, (x) => stage.turnTo(stage.longitude, x), "°")),
      element("h3", { textContent: "Stereo" }),
      this.choice("mode", MODES, stage.stereo.mode, (mode) => { stage.stereo.mode = mode; }),
      this.slider("eyes apart", 0, 0.12, stage.stereo.separation, (x) => { stage.stereo.separation = x; }),
      this.slider("focus", 0.3, 2, stage.stereo.focusShare, (x) => { stage.stereo.focusShare = x; }),
      ...(this.extra ?? []),
    );
    if (held) document.getElementById(held)?.focus();
  }
  check(on, key, text, color) {
    const box = element("input", { type: "checkbox", checked: on[key], id: `show-${key}` });
    box.onchange = () => { on[key] = box.checked; this.changed(); };
    return element("label", {}, box, ...(color ? [element("i", { style: `background:${color}` })] : []), text);
  }
  slider(text, low, high, value, write, unit = "") {
    const input = element("input", { type: "range", min: low, max: high, step: (high - low) / 400, value, ariaLabel: text });
    const shown = element("small", { textContent: `${(+value).toPrecision(2)}${unit}` });
    input.oninput = () => { write(+input.value); shown.textContent = `${(+input.value).toPrecision(3)}${unit}`; this.changed(); };
    const row = element("div", { className: "row" }, element("span", { textContent: text }), element("span", { className: "value" }, input, shown));
    row.follow = (x) => { if (document.activeElement !== input) { input.value = x; shown.textContent = `${x.toFixed(0)}${unit}`; } };
    return row;
  }
  choice(text, options, value, write) {
    const select = element("select", { id: `choice-${text}`, ariaLabel: text });
    for (const option of options) select.add(new Option(option, option, false, option === value));
    select.onchange = () => { write(select.value); this.changed(); };
    return element("div", { className: "row" }, element("span", { textContent: text }), select);
  }
  buttons(entries, press) {
    return element("div", { className: "buttons" }, ...entries.map(([key, text]) => element("button", { textContent: text, onclick: () => { press(key); this.changed(); } })));
  }
  followCamera() {
    this.longitude?.follow(this.stage.longitude);
    this.colatitude?.follow(this.stage.colatitude);
  }
}

/** What is set on the simulation: rows made from what it offers, values as it tells them, refusals beside. */
export class SetPanel {
  constructor(holder, send) {
    this.holder = holder;
    this.send = send;
    this.rows = new Map();
    this.keys = "";
  }
  tell(settings) {
    const keys = settings.controls.map(({ key }) => key).join();
    if (keys !== this.keys) this.build(settings.controls);
    this.keys = keys;
    for (const control of settings.controls) this.rows.get(control.key).tell(control);
  }
  build(controls) {
    this.holder.replaceChildren();
    this.rows.clear();
    let group = "";
    for (const control of controls) {
      if (control.group !== group) this.holder.append(element("h3", { textContent: control.group }));
      group = control.group;
      const row = makeRow(control, (value) => this.send(control.key, value));
      this.rows.set(control.key, row);
      this.holder.append(row.box);
    }
  }
}

function makeRow(control, send) {
  const inputs = makeInputs(control, send);
  const refused = element("span", { className: "refused" });
  const name = element("span", { textContent: control.label });
  if (control.note) name.append(element("small", { textContent: control.note }));
  const bounded = ["number", "vector"].includes(control.kind) && control.low !== null && control.high !== null;
  const range = bounded ? `${control.low} to ${control.high} ${control.unit}` : "";
  const shown = element("span", { className: "range", textContent: range }); // while one is at it
  const box = element("div", { className: control.kind === "vector" ? "row wide" : "row", title: range }, name, element("span", { className: "value" }, ...inputs.boxes, ...(control.unit ? [element("small", { textContent: control.unit })] : [])), shown, refused);
  box.dataset.key = control.key;
  return { box, tell: (now) => { refused.textContent = now.refused; inputs.tell(now.value); } };
}

function makeInputs(control, send) {
  if (control.kind === "button") return { boxes: [element("button", { textContent: control.label, onclick: () => send(null) })], tell() {} };
  if (control.kind === "toggle") {
    const button = element("button", {});
    const tell = (value) => { button.textContent = value ? "paused: go on" : "running: pause"; button.classList.toggle("on", value); button.onclick = () => send(!value); };
    return { boxes: [button], tell };
  }
  if (control.kind === "choice") {
    const select = element("select", { ariaLabel: control.label });
    for (const option of control.options) select.add(new Option(option, option));
    select.onchange = () => send(select.value);
    return { boxes: [select], tell: (value) => { if (document.activeElement !== select || select.value !== value) select.value = value; } };
  }
  return control.kind === "vector" ? vectorInputs(control, send) : numberInputs(control, send);
}

function field(label, change) {
  const input = element("input", { type: "number", step: "any", ariaLabel: label, title: label });
  input.onchange = change;
  return input;
}

function numberInputs(control, send) {
  const input = field(control.label, () => send(input.valueAsNumber));
  const boxes = [input];
  if (control.key === "step") {
    boxes.push(element("button", { textContent: "step", onclick: () => send(input.valueAsNumber || 1) }));
    input.onchange = null;
  }
  const slider = sliderFor(control, (value) => { input.value = value; }, send);
  if (slider) boxes.unshift(slider.input);
  const tell = (value) => {
    if (document.activeElement !== input || control.key !== "step") input.value = +value.toPrecision(7);
    slider?.tell(value);
  };
  return { boxes, tell };
}

/** A slider where the range is one a hand can use; logarithmic where it spans decades. */
function sliderFor(control, shown, send) {
  const { low, high } = control;
  const decades = low > 0 && high / low >= 1000;
  if (control.key === "step" || !(decades || high - low <= 200)) return null;
  const [to, from] = decades ? [Math.log10, (x) => 10 ** x] : [(x) => x, (x) => x];
  const input = element("input", { type: "range", min: to(low), max: to(high), step: (to(high) - to(low)) / 600, ariaLabel: control.label });
  let waiting = null;
  input.oninput = () => {
    const value = +from(+input.value).toPrecision(4);
    shown(value);
    clearTimeout(waiting);
    waiting = setTimeout(() => send(value), SEND_MS);
  };
  return { input, tell: (value) => { if (document.activeElement !== input) input.value = to(value); } };
}

function vectorInputs(control, send) {
  const boxes = control.parts.map((part) => field(`${control.label} ${part}`, () => send(boxes.map((box) => box.valueAsNumber || 0))));
  const wrap = element("span", { style: "display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:3px;flex:1" }, ...boxes);
  return { boxes: [wrap], tell: (value) => value.forEach((x, k) => { if (document.activeElement !== boxes[k]) boxes[k].value = +x.toPrecision(6); }) };
}

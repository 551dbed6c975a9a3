// Poinsot's construction of one body, drawn at its centre of mass: the energy ellipsoid of ω rolls on the invariable
// plane; ω runs along the polhode in the body and the herpolhode in the plane; its rays are the two cones.
//   2 E = Σ I_k ω_k²      L² = Σ I_k² ω_k²      (Goldstein, Classical Mechanics (1980), section 5.6)
import {
  BufferAttribute, BufferGeometry, CircleGeometry, DoubleSide, Group, Mesh, MeshBasicMaterial, MeshStandardMaterial,
  Quaternion, SphereGeometry, Vector3,
} from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";

const POINTS = 241;
const TRACE = 1500; // points of the herpolhode that are kept
const FAINT = 1e-12;
const Z = new Vector3(0, 0, 1);

/** ω (POINTS of them, principal axes) with the energy and momentum of `w`, closed around the axis that it circles. */
export function polhode(moments, w) {
  const h = w.map((x, k) => moments[k] * x);
  const E2 = w.reduce((sum, x, k) => sum + h[k] * x, 0), L2 = h.reduce((sum, x) => sum + x * x, 0);
  const order = [0, 1, 2].sort((i, j) => moments[i] - moments[j]);
  const [small, middle, large] = order;
  if (moments[large] - moments[small] < 1e-9 * moments[large]) return Array.from({ length: POINTS }, () => [...w]);
  const alike = moments[large] - moments[middle] < 1e-9 * moments[large];
  const flat = moments[middle] - moments[small] < 1e-9 * moments[large];
  const c = alike ? small : flat || L2 > E2 * moments[middle] ? large : small;
  const [a, b] = order.filter((k) => k !== c);
  // without h_c the energy leaves an ellipse: Σ h_k² (1/I_k - 1/I_c) = 2 E - L²/I_c
  const rest = E2 - L2 / moments[c];
  const axis = (k) => Math.sqrt(Math.max(0, rest / (1 / moments[k] - 1 / moments[c])));
  const side = Math.sign(w[c]) || 1;
  return Array.from({ length: POINTS }, (_, n) => {
    const angle = (2 * Math.PI * (n % (POINTS - 1))) / (POINTS - 1);
    const point = [0, 0, 0];
    point[a] = axis(a) * Math.cos(angle);
    point[b] = axis(b) * Math.sin(angle);
    point[c] = side * Math.sqrt(Math.max(0, L2 - point[a] ** 2 - point[b] ** 2));
    return point.map((x, k) => x / moments[k]);
  });
}

export class Poinsot {
  constructor(parent, size) {
    this.size = size;
    this.group = new Group();
    this.inBody = new Group(); // principal axes of the body
    this.group.add(this.inBody);
    parent.add(this.group);
    const glass = (color, opacity) => new MeshStandardMaterial({ color, opacity, transparent: true, depthWrite: false, side: DoubleSide, roughness: 0.4 });
    const ball = new SphereGeometry(1, 64, 32);
    this.ellipsoid = new Mesh(ball, glass(0x5aa9ff, 0.28));
    this.momentum = new Mesh(ball, glass(0xff6ad5, 0.2)); // of L in ω space: semi-axes |L|/I_k
    this.plane = new Mesh(new CircleGeometry(1, 96), glass(0x9aa7b8, 0.2)); // a disc of it
    this.polhode = wide(0xffd24a);
    this.herpolhode = wide(0x7af0b5);
    this.bodyCone = new Mesh(new BufferGeometry(), new MeshBasicMaterial({ color: 0xffd24a, opacity: 0.25, transparent: true, side: DoubleSide, depthWrite: false }));
    this.spaceCone = new Mesh(new BufferGeometry(), new MeshBasicMaterial({ color: 0x7af0b5, opacity: 0.25, transparent: true, side: DoubleSide, depthWrite: false }));
    this.inBody.add(this.ellipsoid, this.momentum, this.polhode, this.bodyCone);
    this.group.add(this.plane, this.herpolhode, this.spaceCone);
    this.show = { polhode: false, herpolhode: false, cones: false, sphere: false };
    this.turn = new Quaternion();
    this.forget();
  }
  get wanted() { return Object.values(this.show).some(Boolean); }
  forget() {
    this.trace = []; // ω in world axes
    this.stale = true;
    this.key = "";
    this.curve = [];
  }
  /** body: as the scene tells it; p: its centre of mass, q: its attitude (three.js), w: ω in world axes. */
  update(body, p, q, w) {
    const spin = Math.hypot(...w);
    this.group.visible = this.wanted && spin > FAINT && body.moments[2] > 0;
    if (!this.group.visible) return;
    this.group.position.copy(p);
    const [qw, qx, qy, qz] = body.principal;
    this.inBody.quaternion.copy(q).multiply(this.turn.set(qx, qy, qz, qw));
    const wP = new Vector3(...w).applyQuaternion(this.inBody.quaternion.clone().invert()).toArray();
    const moments = body.moments;
    const E2 = wP.reduce((sum, x, k) => sum + moments[k] * x * x, 0);
    const h = wP.map((x, k) => moments[k] * x);
    const L = Math.hypot(...h);
    const axes = moments.map((I) => Math.sqrt(E2 / I));
    this.axes = axes;
    this.unit = this.size / Math.max(...axes); // metres per rad/s
    const key = `${body.name} ${E2.toPrecision(5)} ${L.toPrecision(5)}`;
    if (key !== this.key) this.reshape(moments, wP, key);
    this.ellipsoid.scale.set(...axes).multiplyScalar(this.unit);
    this.momentum.scale.set(...moments.map((I) => L / I)).multiplyScalar(this.unit);
    this.followPlane(new Vector3(...h).applyQuaternion(this.inBody.quaternion), E2 / L);
    this.traceOmega(w);
    const { show } = this;
    this.ellipsoid.visible = show.polhode || show.herpolhode;
    this.polhode.visible = show.polhode;
    this.plane.visible = this.herpolhode.visible = show.herpolhode;
    this.momentum.visible = show.sphere;
    this.bodyCone.visible = this.spaceCone.visible = show.cones;
  }
  reshape(moments, wP, key) {
    this.key = key;
    this.curve = polhode(moments, wP);
    const points = this.curve.flatMap((point) => point.map((x) => x * this.unit));
    drawLine(this.polhode, points);
    fan(this.bodyCone, points);
  }
  followPlane(L, distance) {
    const normal = L.normalize();
    this.plane.position.copy(normal).multiplyScalar(distance * this.unit);
    this.plane.quaternion.setFromUnitVectors(Z, normal);
    this.plane.scale.setScalar(1.25 * this.size); // ω stays within its ellipsoid, which is of this size
  }
  traceOmega(w) {
    const last = this.trace.at(-1);
    const far = last ? Math.hypot(w[0] - last[0], w[1] - last[1], w[2] - last[2]) * this.unit : Infinity;
    if (far < 0.01 * this.size) { if (this.stale) this.drawTrace(); this.stale = false; return; }
    if (far > this.size && last) this.trace = []; // it was put elsewhere
    this.trace.push([...w]);
    if (this.trace.length > TRACE) this.trace.shift();
    this.drawTrace();
  }
  drawTrace() {
    if (this.trace.length < 2) return;
    const points = this.trace.flatMap((point) => point.map((x) => x * this.unit));
    drawLine(this.herpolhode, points);
    fan(this.spaceCone, points);
  }
}

function wide(color) {
  const line = new Line2(new LineGeometry(), new LineMaterial({ color, linewidth: 3 }));
  line.frustumCulled = false;
  return line;
}

function drawLine(line, points) {
  line.geometry.dispose();
  line.geometry = new LineGeometry().setPositions(points);
}

/** Triangles from the origin to each piece of a curve. */
function fan(mesh, points) {
  const pieces = points.length / 3 - 1;
  const corners = new Float32Array(9 * pieces);
  for (let k = 0; k < pieces; k++) corners.set(points.slice(3 * k, 3 * k + 6), 9 * k + 3);
  mesh.geometry.dispose();
  mesh.geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(corners, 3));
  mesh.frustumCulled = false;
}

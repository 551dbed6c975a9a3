// The line of where a body was.
import { BufferAttribute, BufferGeometry, Line, LineBasicMaterial } from "three";

const TRAIL = 1200; // points

/** Where a body was. */
export class Trail {
  constructor(parent, color) {
    this.points = new Float32Array(3 * TRAIL);
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(this.points, 3));
    this.line = new Line(geometry, new LineBasicMaterial({ color, transparent: true, opacity: 0.8 }));
    this.line.frustumCulled = false;
    parent.add(this.line);
    this.clear();
  }
  clear() { this.count = 0; this.t = null; this.line.geometry.setDrawRange(0, 0); }
  extend(t, point) {
    if (this.t !== null && Math.abs(t - this.t) < 1e-9) return;
    this.t = t;
    if (this.count === TRAIL) { this.points.copyWithin(0, 3); this.count -= 1; }
    this.points.set([point.x, point.y, point.z], 3 * this.count);
    this.count += 1;
    this.line.geometry.setDrawRange(0, this.count);
    this.line.geometry.attributes.position.needsUpdate = true;
  }
}

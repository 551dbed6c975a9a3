// Shapes of bodies: primitives, facets, meshes from files, arrows.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, DoubleSide, EdgesGeometry, Group,
  LineBasicMaterial, LineSegments, Mesh, MeshStandardMaterial, Quaternion, SphereGeometry, Vector3,
} from "three";
import { ColladaLoader } from "three/addons/loaders/ColladaLoader.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { OBJLoader } from "three/addons/loaders/OBJLoader.js";
import { PLYLoader } from "three/addons/loaders/PLYLoader.js";
import { STLLoader } from "three/addons/loaders/STLLoader.js";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import { address } from "./sources.js";

const Y = new Vector3(0, 1, 0);
const SIDES = 48;
const CREASE = Math.PI / 6; // facets that meet at less are one smooth face
const LARGE = 1000; // the radius at which toCreasedNormals, which takes vertices within 0.01 for one, tells them apart

/** A shape as a three.js object in the body's frame. `failed` is told where a mesh cannot be shown. */
export function shapeObject(shape, embedded, failed) {
  const holder = new Group();
  holder.position.fromArray(shape.at ?? [0, 0, 0]);
  const [w, x, y, z] = shape.quaternion ?? [1, 0, 0, 0];
  holder.quaternion.set(x, y, z, w);
  const material = painted(shape.rgba ?? [0.7, 0.7, 0.75, 1]);
  if (shape.kind === "mesh") fillWithMesh(holder, shape, material, embedded, failed);
  else if (shape.kind === "arrow") {
    const arrow = new Arrow(new Color().setRGB(...shape.rgba.slice(0, 3)), shape.radius ?? 0.02);
    arrow.set([0, 0, 0], shape.size);
    holder.add(arrow.group);
  } else holder.add(edged(new Mesh(geometry(shape), material)));
  return holder;
}

function geometry(shape) {
  const [a, b, c] = shape.size;
  if (shape.vertices) return surface(shape.vertices.flat(), shape.facets.flat());
  if (shape.kind === "box") return new BoxGeometry(a, b, c);
  if (shape.kind === "cylinder") return new CylinderGeometry(a, a, b, SIDES).rotateX(Math.PI / 2);
  if (shape.kind === "cone") return new ConeGeometry(a, b, SIDES, 1, true).rotateX(-Math.PI / 2).translate(0, 0, b / 2);
  if (shape.kind === "ellipsoid") return new SphereGeometry(1, SIDES, SIDES / 2).scale(a, b, c);
  return new SphereGeometry(a, SIDES, SIDES / 2);
}

/** Of triangles: of a kind that is not known here, or of a surface. */
function surface(vertices, facets) {
  const made = new BufferGeometry();
  made.setAttribute("position", new BufferAttribute(new Float32Array(vertices), 3));
  made.setIndex(facets);
  made.computeBoundingSphere();
  const scale = LARGE / (made.boundingSphere.radius || 1);
  return toCreasedNormals(made.scale(scale, scale, scale), CREASE).scale(1 / scale, 1 / scale, 1 / scale);
}

function painted([r, g, b, opacity]) {
  const color = new Color().setRGB(r, g, b, "srgb");
  const material = new MeshStandardMaterial({ color, roughness: 0.62, metalness: 0.12, side: DoubleSide });
  material.userData.opacity = opacity;
  fade(material, 1);
  return material;
}

/** Let the material show `share` of its own opacity. */
export function fade(material, share) {
  const opacity = (material.userData.opacity ?? 1) * share;
  material.opacity = opacity;
  material.transparent = opacity < 1;
  material.depthWrite = opacity > 0.6;
  material.needsUpdate = true;
}

function edged(mesh) {
  if (mesh.geometry.type === "BoxGeometry") {
    mesh.add(new LineSegments(new EdgesGeometry(mesh.geometry, 30), new LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.35 })));
  }
  return mesh;
}

async function fillWithMesh(holder, shape, material, embedded, failed) {
  holder.scale.fromArray(shape.size);
  try {
    if (shape.mesh === undefined) throw new Error(shape.warning);
    const source = embedded?.[shape.mesh] ?? address(`/mesh/${shape.mesh}`);
    const answer = await fetch(source);
    if (!answer.ok) throw new Error(`${shape.file} cannot be read`);
    holder.add(await parsed(shape.file, await answer.arrayBuffer(), material));
  } catch (error) {
    holder.scale.set(1, 1, 1);
    holder.add(edged(new Mesh(new BoxGeometry(0.1, 0.1, 0.1), new MeshStandardMaterial({ color: 0xff4fa0, wireframe: true }))));
    holder.userData.placeholder = true;
    failed(error.message, holder, shape.file);
  }
}

async function parsed(name, buffer, material) {
  const kind = name.split(".").pop().toLowerCase();
  const text = () => new TextDecoder().decode(buffer);
  const plain = (shape) => { if (!shape.attributes.normal) shape.computeVertexNormals(); return new Mesh(shape, material); };
  if (kind === "stl") return plain(new STLLoader().parse(buffer));
  if (kind === "ply") return plain(new PLYLoader().parse(buffer));
  if (kind === "dae") return new ColladaLoader().parse(text(), "").scene;
  if (kind === "obj") {
    const object = new OBJLoader().parse(text());
    object.traverse((part) => { if (part.isMesh) part.material = material; });
    return object;
  }
  return (await new GLTFLoader().parseAsync(buffer, "")).scene;
}

/** An arrow from a point along a vector; thin ones for rates, thick ones for forces. */
export class Arrow {
  constructor(color, radius) {
    this.radius = radius;
    this.group = new Group();
    const material = new MeshStandardMaterial({ color, roughness: 0.5, emissive: color, emissiveIntensity: 0.35 });
    this.shaft = new Mesh(new CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), material);
    this.head = new Mesh(new ConeGeometry(1, 1, 20).translate(0, -0.5, 0), material);
    this.group.add(this.shaft, this.head);
    this.along = new Vector3();
    this.turn = new Quaternion();
  }
  set(from, along) {
    const length = this.along.set(...along).length();
    this.group.visible = length > 1e-9;
    if (!this.group.visible) return;
    const tip = Math.min(5 * this.radius, 0.45 * length);
    this.group.position.set(...from);
    this.group.quaternion.setFromUnitVectors(Y, this.along.divideScalar(length));
    this.shaft.scale.set(this.radius, Math.max(1e-9, length - tip * 0.9), this.radius);
    this.head.position.set(0, length, 0);
    this.head.scale.set(0.45 * tip, tip, 0.45 * tip);
  }
}

// Words in the scene that face the camera, and numbers that change.
import { CanvasTexture, SRGBColorSpace, Sprite, SpriteMaterial, Vector3 } from "three";

const FONT = "600 44px system-ui, sans-serif";

/** A word that faces the camera; `widest`: the longest that `write` puts in its place. */
export function label(text, height, color, widest = text) {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  pen.font = FONT;
  canvas.width = Math.ceil(pen.measureText(widest).width) + 12;
  canvas.height = 60;
  const map = new CanvasTexture(canvas);
  map.colorSpace = SRGBColorSpace;
  const sprite = new Sprite(new SpriteMaterial({ map, depthTest: false, transparent: true }));
  sprite.renderOrder = 1; // after what is transparent, which would cover it
  sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
  sprite.userData = { canvas, color };
  write(sprite, text);
  return sprite;
}

/** Other words on the same label. */
export function write(sprite, text) {
  if (sprite.name === text) return;
  sprite.name = text;
  const { canvas, color } = sprite.userData;
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  Object.assign(pen, { font: FONT, fillStyle: color, textAlign: "center", textBaseline: "middle" });
  pen.fillText(text, canvas.width / 2, 31, canvas.width - 12);
  sprite.material.map.needsUpdate = true;
}

/** A number as short as it can be told: three digits. */
export function brief(x) {
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e4) ? x.toExponential(2) : String(Number(x.toPrecision(3)));
}

/** Move labels that cover each other apart, upwards in the picture; they stand where `base` says. */
export function spread(labels, camera) {
  const placed = [];
  const up = new Vector3(0, 1, 0).applyQuaternion(camera.quaternion);
  const inPicture = new Vector3();
  for (const each of labels) {
    each.position.copy(each.userData.base);
    inPicture.copy(each.position).applyMatrix4(camera.matrixWorldInverse);
    const far = -inPicture.z;
    if (far <= 0) continue; // behind the camera
    const box = { x: inPicture.x / far, y: inPicture.y / far, wide: each.scale.x / far, high: (0.8 * each.scale.y) / far };
    const covers = (other) => Math.abs(other.x - box.x) < (other.wide + box.wide) / 2 && Math.abs(other.y - box.y) < (other.high + box.high) / 2 - 1e-9;
    for (let other = placed.find(covers); other; other = placed.find(covers)) box.y = other.y + (other.high + box.high) / 2;
    each.position.addScaledVector(up, box.y * far - inPicture.y);
    placed.push(box);
  }
}

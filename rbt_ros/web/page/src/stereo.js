// Two eyes with off-axis frusta: side by side, cross-eyed, or red and cyan after Dubois (2001). What lies at the focus
// has no parallax; nearer things come out of the screen, farther ones lie behind it.
import {
  HalfFloatType, LinearFilter, LinearSRGBColorSpace, Matrix3, Mesh, OrthographicCamera, PerspectiveCamera, PlaneGeometry,
  Scene, ShaderMaterial, Vector3, WebGLRenderTarget,
} from "three";

export const MODES = ["off", "side by side", "cross-eyed", "anaglyph"];

// Dubois, "A projection method to generate anaglyph stereo images" (2001), red and cyan, linear light
const LEFT = new Matrix3().set(0.4561, 0.500484, 0.176381, -0.0400822, -0.0378246, -0.0157589, -0.0152161, -0.0205971, -0.00546856);
const RIGHT = new Matrix3().set(-0.0434706, -0.0879388, -0.00155529, 0.378476, 0.73364, -0.0184503, -0.0721527, -0.112961, 1.2264);

export class Stereo {
  constructor(renderer) {
    this.renderer = renderer;
    this.mode = "off";
    this.separation = 1 / 30; // of the eyes, as a share of the distance of the focus
    this.focusShare = 1; // focus: that share of the distance to what one looks at
    this.eyes = [new PerspectiveCamera(), new PerspectiveCamera()];
    for (const eye of this.eyes) eye.matrixAutoUpdate = false;
    this.targets = null;
  }
  /** Put both eyes beside `camera`, which looks at something `distance` away. */
  place(camera, distance, aspect) {
    const focus = distance * this.focusShare;
    const half = (this.separation * focus) / 2;
    camera.updateMatrixWorld();
    const up = Math.tan((camera.fov * Math.PI) / 360) / camera.zoom;
    const tall = up * Math.max(1, (0.75 * camera.aspect) / aspect); // a narrow half shows most of what the whole did
    const across = tall * aspect;
    const { near, far } = camera;
    [-half, half].forEach((shift, k) => {
      const eye = this.eyes[k];
      const left = near * (-across - shift / focus), right = near * (across - shift / focus);
      eye.projectionMatrix.makePerspective(left, right, near * tall, -near * tall, near, far, camera.coordinateSystem);
      eye.projectionMatrixInverse.copy(eye.projectionMatrix).invert();
      eye.matrixWorld.makeTranslation(shift, 0, 0).premultiply(camera.matrixWorld);
      eye.matrixWorldInverse.copy(eye.matrixWorld).invert();
      eye.matrixWorldAutoUpdate = false;
      eye.layers.mask = camera.layers.mask;
    });
  }
  /** Horizontal places (left eye, right eye) of a point, -1 to 1: parallax = right - left. */
  seen(point) {
    return this.eyes.map((eye) => new Vector3(...point).applyMatrix4(eye.matrixWorldInverse).applyMatrix4(eye.projectionMatrix).x);
  }
  render(scene, camera, distance) {
    const { renderer } = this;
    if (this.mode === "off") { renderer.render(scene, camera); return; }
    const size = renderer.getSize(new Vector3());
    if (this.mode === "anaglyph") { this.anaglyph(scene, camera, distance, size); return; }
    const half = size.x / 2;
    this.place(camera, distance, half / size.y);
    const [first, second] = this.mode === "cross-eyed" ? [this.eyes[1], this.eyes[0]] : this.eyes;
    renderer.setScissorTest(true);
    [first, second].forEach((eye, k) => {
      renderer.setViewport(k * half, 0, half, size.y);
      renderer.setScissor(k * half, 0, half, size.y);
      renderer.render(scene, eye);
    });
    renderer.setScissorTest(false);
    renderer.setViewport(0, 0, size.x, size.y);
  }
  anaglyph(scene, camera, distance, size) {
    const { renderer } = this;
    const ratio = renderer.getPixelRatio();
    this.prepare(Math.round(size.x * ratio), Math.round(size.y * ratio));
    this.place(camera, distance, size.x / size.y);
    this.eyes.forEach((eye, k) => {
      renderer.setRenderTarget(this.targets[k]);
      renderer.clear();
      renderer.render(scene, eye);
    });
    renderer.setRenderTarget(null);
    renderer.render(this.mixing, this.flat);
  }
  prepare(width, height) {
    if (!this.targets) {
      const options = { type: HalfFloatType, minFilter: LinearFilter, magFilter: LinearFilter, samples: 4 };
      this.targets = [0, 1].map(() => new WebGLRenderTarget(width, height, options));
      for (const target of this.targets) target.texture.colorSpace = LinearSRGBColorSpace;
      const material = new ShaderMaterial({
        uniforms: { left: { value: this.targets[0].texture }, right: { value: this.targets[1].texture }, L: { value: LEFT }, R: { value: RIGHT } },
        vertexShader: "varying vec2 at; void main() { at = uv; gl_Position = vec4(position.xy, 0.0, 1.0); }",
        fragmentShader: `varying vec2 at; uniform sampler2D left, right; uniform mat3 L, R;
          void main() {
            vec3 mixed = clamp(L * texture2D(left, at).rgb + R * texture2D(right, at).rgb, 0.0, 1.0);
            gl_FragColor = vec4(mixed, 1.0);
            #include <colorspace_fragment>
          }`,
        depthTest: false,
      });
      this.mixing = new Scene().add(new Mesh(new PlaneGeometry(2, 2), material));
      this.flat = new OrthographicCamera();
    }
    for (const target of this.targets) target.setSize(width, height);
  }
}

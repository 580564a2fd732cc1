// Renderer, camera, light and floor; draws only when something has changed.

import {
  Box3,
  DirectionalLight,
  HemisphereLight,
  type Object3D,
  PCFShadowMap,
  PerspectiveCamera,
  Plane,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Floor } from './floor';

export type Side = 'front' | 'right' | 'top' | 'angle';

/** Where the camera is, seen from what it looks at. */
const SIDES: Record<Side, [number, number, number]> = {
  front: [1, 0, 0.06],
  right: [0, -1, 0.06],
  // not quite vertical: z stays up
  top: [0.001, 0, 1],
  angle: [0.86, 0.48, 0.36],
};
const FIELD_OF_VIEW = 30;
/** A processor draws what moves with this part of the pixels a side, and all of them when nothing has moved for so long [ms]. */
const MOVING = 0.5;
const STILL = 150;

export class World {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
  readonly orbit: OrbitControls;
  /** Frames that were drawn. */
  frames = 0;
  /** Whether a processor draws, in place of a graphics card. */
  readonly inSoftware: boolean;

  private readonly renderer: WebGLRenderer;
  private readonly sun = new DirectionalLight(0xffffff, 2.2);
  private readonly raycaster = new Raycaster();
  private readonly observer: ResizeObserver;
  private floor: Floor | null = null;
  private requested = 0;
  /** Size of the canvas in the window. [pixel] */
  private width = 0;
  private height = 0;
  /** Pixels that are drawn for one of the window, a side. */
  private sharpness = 1;
  /** Timer of the sharp picture of what has come to rest. */
  private resting = 0;
  /** Whether something has changed since the last frame. */
  private changed = false;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.inSoftware = drawsInSoftware();
    // a processor would draw each frame four times for it
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.inSoftware, alpha: true });
    this.renderer.shadowMap.type = PCFShadowMap;
    this.camera.up.set(0, 0, 1);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.addEventListener('change', () => this.invalidate());
    // Sky and ground light shadows of robots softly; the sun gives them form.
    this.scene.add(new HemisphereLight(0xffffff, 0xa49e96, 1.75), this.sun, this.sun.target);
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(canvas);
    // A lost context comes back empty: three fills it again from the scene.
    canvas.addEventListener('webglcontextrestored', () => this.invalidate());
  }

  /** Sets the scale of floor, light and camera: about the height of the robot. [m] */
  setSize(size: number): void {
    this.floor?.root.removeFromParent();
    this.floor = new Floor(size);
    this.scene.add(this.floor.root);
    this.sun.position.set(1.2 * size, 1.6 * size, 4 * size);
    const frustum = this.sun.shadow.camera;
    frustum.left = frustum.bottom = -2 * size;
    frustum.right = frustum.top = 2 * size;
    frustum.near = 0.1 * size;
    frustum.far = 8 * size;
    frustum.updateProjectionMatrix();
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.01 * size;
    this.camera.near = size / 100;
    this.camera.far = 50 * size;
    this.orbit.minDistance = 0.2 * size;
    this.orbit.maxDistance = 20 * size;
    this.shadows(!this.inSoftware);
  }

  shadows(on: boolean): void {
    this.sun.castShadow = on;
    this.renderer.shadowMap.enabled = on;
    this.floor?.shadows(on);
    this.invalidate();
  }

  floorColor(lines: string): void {
    this.floor?.color(lines);
    this.invalidate();
  }

  /** Asks for a frame. */
  invalidate(): void {
    this.changed = true;
    this.requested ||= requestAnimationFrame(this.next);
  }

  /** Whether no frame is asked for, and the last one is sharp. */
  get idle(): boolean {
    return this.requested === 0 && this.resting === 0;
  }

  /** Turns the camera to a side, and to what is to be seen whole. */
  look(side: Side, objects: Object3D): void {
    const box = new Box3().setFromObject(objects);
    if (box.isEmpty()) return;
    const centre = box.getCenter(new Vector3());
    const radius = Math.max(box.getSize(new Vector3()).length() / 2, 0.01);
    const narrow = Math.min(1, this.camera.aspect);
    const distance = (1.12 * radius) / Math.sin((FIELD_OF_VIEW * Math.PI) / 360) / narrow;
    this.camera.position
      .set(...SIDES[side])
      .setLength(distance)
      .add(centre);
    this.orbit.target.copy(centre);
    this.orbit.update();
    this.invalidate();
  }

  /** Moves the camera's centre to what is to be seen, without turning it. */
  frame(objects: Object3D): void {
    const centre = new Box3().setFromObject(objects).getCenter(new Vector3());
    this.camera.position.add(centre).sub(this.orbit.target);
    this.orbit.target.copy(centre);
    this.orbit.update();
    this.invalidate();
  }

  /** The nearest object at a point of the window. */
  pick(x: number, y: number, objects: Object3D): Object3D | null {
    return this.hit(x, y, objects)?.object ?? null;
  }

  /** The nearest thing at a point of the window, and where the ray meets it. */
  hit(x: number, y: number, objects: Object3D): { object: Object3D; point: Vector3 } | null {
    this.aim(x, y);
    return this.raycaster.intersectObject(objects, true)[0] ?? null;
  }

  /** Where the ray of a point of the window meets the plane through `through` that faces the camera. [m] (3) */
  onPlane(x: number, y: number, through: Vector3): Vector3 | null {
    this.aim(x, y);
    const normal = this.camera.getWorldDirection(new Vector3());
    return this.raycaster.ray.intersectPlane(
      new Plane().setFromNormalAndCoplanarPoint(normal, through),
      new Vector3(),
    );
  }

  /** Where a point of the world is in the window. [pixel] (2) */
  project(x: number, y: number, z: number): [number, number] {
    this.camera.updateMatrixWorld();
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector3(x, y, z).project(this.camera);
    return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
  }

  dispose(): void {
    cancelAnimationFrame(this.requested);
    clearTimeout(this.resting);
    this.observer.disconnect();
    this.orbit.dispose();
    this.renderer.dispose();
  }

  /** Sends the ray through a point of the window. */
  private aim(x: number, y: number): void {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
  }

  /** Draws what has changed, and looks again at the next frame: what moves then asks before this is called, and not for the frame
   * after it, which would draw every other frame only. */
  private readonly next = (): void => {
    this.requested = this.changed ? requestAnimationFrame(this.next) : 0;
    if (!this.changed) return;
    if (this.inSoftware) this.coarsen();
    this.draw();
  };

  /** Has a processor draw fewer pixels until nothing moves any more. */
  private coarsen(): void {
    clearTimeout(this.resting);
    this.resting = window.setTimeout(() => {
      this.resting = 0;
      this.resize();
    }, STILL);
    if (this.sharpness === 1) this.fit(MOVING);
  }

  private draw(): void {
    this.changed = false;
    this.renderer.render(this.scene, this.camera);
    // at once, and not with the page's frame: whoever draws begins while the page is laid out and painted
    this.renderer.getContext().flush();
    this.frames++;
  }

  /** Takes the size of the canvas, which would have the page laid out if a frame asked for it. */
  private measure(): void {
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.resize();
  }

  private resize(): void {
    // in the same task: a canvas that was resized is empty until it is drawn
    if (this.fit(this.resting === 0 ? 1 : MOVING)) this.draw();
  }

  /** Gives the picture the size of the canvas, unless that has none. */
  private fit(sharpness: number): boolean {
    const { width, height } = this;
    if (width === 0 || height === 0) return false;
    this.sharpness = sharpness;
    // in one call: each size that is set has the browser make the buffer anew, the same one, too
    const ratio = this.inSoftware ? sharpness : Math.min(devicePixelRatio, 2);
    this.renderer.setDrawingBufferSize(width, height, ratio);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    return true;
  }
}

/** Whether a processor draws, by a canvas that is thrown away: smoothing of edges is chosen before the first frame. */
function drawsInSoftware(): boolean {
  const context = document.createElement('canvas').getContext('webgl2');
  if (!context) return false;
  const names = context.getExtension('WEBGL_debug_renderer_info');
  const name = String(context.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software/i.test(name);
}

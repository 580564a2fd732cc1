// What the view shows of the studio's state: figures, ghosts, balance and handles in one world.

import { Box3, Vector3 } from 'three';
import type { SceneEdits } from '../scene/scene-edits.svelte';
import type { Balance } from '../session/display.svelte';
import { BODY_STRIDE } from '../session/frames';
import { type ConeOnBody, partOf } from '../session/parts';
import type { Place } from '../session/place';
import type { Reach, Reached } from '../session/reach.svelte';
import type { Studio } from '../session/studio.svelte';
import type { LinkDescription, Stage } from '../wire/wire';
import { Cones } from './cones';
import { Figures } from './figures';
import { type ContactForce, Forces } from './forces';
import { Handles } from './handles';
import { COLORS, Overlay } from './overlay';
import { Pull } from './pull';
import { Meshes } from './shapes';
import { type Side, World } from './world';

/** Movement below which a press and a release are a click. [pixel] */
const CLICK = 4;
const GHOST_OPACITY = 0.16;
/** Name of the handle of a body that is no link: names of links have no slash. */
const OBJECT = 'scene/body';
const IDENTITY: Place = [0, 0, 0, 0, 0, 0, 1];

export class Picture {
  readonly world: World;
  private readonly meshes: Meshes;
  private figures: Figures | null = null;
  private before: Figures | null = null;
  private after: Figures | null = null;
  private measured: Figures | null = null;
  private overlay: Overlay | null = null;
  private handles: Handles | null = null;
  private forces: Forces | null = null;
  private cones: Cones | null = null;
  private conesShown: readonly ConeOnBody[] = [];
  private readonly pull: Pull;
  private shape = '';
  /** Whether the camera has turned to this stage. */
  private looked = false;
  /** Whether the handle is that of a body of the scene. */
  private movesBody = false;
  private pressed: { x: number; y: number } | null = null;
  private hovered: PointerEvent | null = null;
  /** Request of the frame at which what is under the pointer is looked for. */
  private picking = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly studio: Studio,
    private readonly reach: Reach,
    private readonly scene: SceneEdits,
  ) {
    this.world = new World(canvas);
    this.meshes = new Meshes(studio.token);
    this.pull = new Pull(this.world, studio);
  }

  /** Builds everything anew where bodies or their looks are others now; what it is built for. */
  setStage(stage: Stage, detailed: boolean | null): string {
    const fine = detailed ?? !this.world.inSoftware;
    const { number: _, ...looks } = stage;
    const shape = JSON.stringify([looks, fine]);
    if (shape === this.shape) return shape;
    this.looked = false;
    this.shape = shape;
    this.clear();
    const changed = () => this.world.invalidate();
    const failed = (error: unknown) => this.studio.complain(error);
    const figures = (ghost?: number, opacity = GHOST_OPACITY) => {
      const look = ghost === undefined ? {} : { ghost: { color: ghost, opacity } };
      const made = new Figures(stage, this.meshes, fine ? 'fine' : 'coarse', look, changed, failed);
      this.world.scene.add(made.root);
      return made;
    };
    this.figures = figures();
    this.before = figures(COLORS.com);
    this.after = figures(COLORS.near);
    this.measured = figures(COLORS.good, 0.4);
    for (const ghost of [this.before, this.after, this.measured]) ghost.root.visible = false;
    this.figures.place(atRest(stage));
    const size = heightOf(this.figures);
    this.world.setSize(size);
    this.world.shadows(fine);
    this.overlay = new Overlay(size);
    this.overlay.show(null);
    this.world.scene.add(this.overlay.root);
    this.forces = new Forces(size);
    this.cones = new Cones(size);
    this.cones.show(this.conesShown);
    this.world.scene.add(this.forces.root, this.cones.root);
    this.handles = new Handles(this.world, this.canvas, size, {
      begin: () => (this.movesBody ? this.scene.begin() : this.reach.begin()),
      move: (place) => (this.movesBody ? this.scene.move(place) : this.reach.move(place)),
      end: () => void (this.movesBody ? this.scene.end() : this.reach.end()),
    });
    this.recolor();
    this.update();
    return shape;
  }

  /** Puts the bodies where they are now. */
  update(): void {
    const { bodies } = this.studio.display;
    if (!this.figures || bodies.length === 0) return;
    this.figures.place(bodies);
    this.handles?.follow(bodies, this.com);
    this.cones?.follow(bodies);
    this.pull.draw();
    if (!this.looked) this.look('angle');
    this.looked = true;
    this.world.invalidate();
  }

  /** Shows the forces of contacts. */
  showForces(forces: readonly ContactForce[]): void {
    this.forces?.show(forces);
    this.world.invalidate();
  }

  /** Sizes of the forces that are drawn; for tests. [N] */
  forcesShown(): number[] {
    return this.forces?.sizes ?? [];
  }

  /** Shows cones on bodies. */
  showCones(cones: readonly ConeOnBody[]): void {
    const none = cones.length === 0 && this.conesShown.length === 0;
    this.conesShown = cones;
    if (none) return;
    this.cones?.show(cones);
    this.cones?.follow(this.studio.display.bodies);
    this.world.invalidate();
  }

  showBalance(balance: Balance | null): void {
    this.overlay?.show(balance);
    this.world.invalidate();
  }

  /** Shows the robot as measured, faded, where it is not as shown; nothing hides it. */
  showMeasured(bodies: Float32Array | undefined): void {
    const { measured, figures } = this;
    if (!measured || !figures || (!bodies && !measured.root.visible)) return;
    measured.root.visible = bodies !== undefined;
    if (bodies) {
      // its first body is where it is shown: nothing measures where the robot stands
      measured.root.position.fromArray(this.studio.display.bodies, 0);
      measured.root.quaternion.fromArray(this.studio.display.bodies, 3);
      measured.placeWhereApart(bodies, figures);
    }
    this.world.invalidate();
  }

  /** Shows the ends of the scenes before and after the playhead, faded. */
  showGhosts(on: boolean): void {
    if (!this.before || !this.after || !this.figures) return;
    const sampled = this.studio.display.sampled;
    const ends = on && sampled && this.studio.selection.kind === 'scene' ? sampled.report.scene_ends : [];
    const time = this.studio.player.time;
    const near = 1e-4;
    const shown = this.before.root.visible || this.after.root.visible;
    const previous =
      ends.findLast((end) => end < time - near) ?? (ends.length > 0 && time > near ? 0 : undefined);
    const next = ends.find((end) => end > time + near);
    for (const [ghost, at] of [
      [this.before, previous],
      [this.after, next],
    ] as const) {
      ghost.root.visible = at !== undefined;
      if (at !== undefined && sampled) {
        ghost.placeWhereApart(sampled.clip.bodies(sampled.clip.nearest(at)), this.figures);
      }
    }
    if (shown || previous !== undefined || next !== undefined) this.world.invalidate();
  }

  /** Shows the handles of links, and that of the body of the scene that is chosen. */
  showHandles(on: boolean, link: string | null, mode: 'translate' | 'rotate', body: string | null): void {
    if (!this.handles) return;
    const stage = this.studio.stage;
    const index = stage?.objects.findIndex((object) => object.name === body) ?? -1;
    this.movesBody = on && body !== null && index >= 0;
    const first = (stage?.n_bodies ?? 0) - (stage?.objects.length ?? 0);
    const own: LinkDescription = { name: OBJECT, body: first + index, pose: IDENTITY, is_tip: false };
    this.handles.show(this.movesBody ? [...this.reach.handles, own] : this.reach.handles);
    this.handles.dots.visible = on;
    if (this.movesBody) this.handles.choose(OBJECT, 'translate');
    else this.handles.choose(on ? link : null, mode);
    this.handles.follow(this.studio.display.bodies, this.com);
  }

  private get com(): [number, number, number] | null {
    return this.studio.display.evaluated?.com ?? null;
  }

  colorHandle(reached: Reached | null): void {
    const colors = { reached: COLORS.good, limited: COLORS.near, missed: COLORS.bad };
    this.handles?.color(reached === null ? null : colors[reached]);
  }

  /** Shows a joint's body, or a body, in the colour of the highlight. */
  highlight(joint: string | null, body: number | null): void {
    const index = this.studio.joints.find((one) => one.name === joint)?.body ?? body;
    this.figures?.highlight(index);
    this.world.invalidate();
  }

  look(side: Side): void {
    if (this.figures) this.world.look(side, this.figures.root);
  }

  frame(): void {
    if (this.figures) this.world.frame(this.figures.root);
  }

  recolor(): void {
    this.world.floorColor(getComputedStyle(this.canvas).getPropertyValue('--grid').trim());
  }

  hover(event: PointerEvent): void {
    if (this.pull.pulled !== null) this.pull.move(event.clientX, event.clientY);
    this.hovered = event;
    this.picking ||= requestAnimationFrame(this.pickHovered);
  }

  leave(): void {
    this.hovered = null;
    this.setHovered(null);
  }

  press(event: PointerEvent): void {
    this.pressed = { x: event.clientX, y: event.clientY };
    if (this.studio.running && this.studio.mayEdit && event.button === 0) this.takeHold(event);
  }

  /** Name of what the pointer pulls; `null` if nothing. */
  get pulled(): string | null {
    return this.pull.pulled;
  }

  /** A click chooses a handle, or the joint of a body. */
  release(event: PointerEvent): void {
    const { pressed } = this;
    this.pressed = null;
    if (this.pull.pulled !== null) {
      this.pull.letGo();
      return;
    }
    if (!pressed || Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > CLICK) return;
    if (this.handles?.hovered) return;
    const link = this.handles?.at(event.clientX, event.clientY) ?? null;
    if (link !== null && link !== OBJECT) {
      this.scene.chosen = null;
      this.reach.choose(link);
      return;
    }
    const body = this.pick(event);
    const first = this.studio.stage?.robots.reduce((sum, robot) => sum + robot.bodies.length, 0) ?? 0;
    const object = body === null ? undefined : this.studio.stage?.objects[body - first];
    this.scene.chosen = object ? { list: 'bodies', name: object.name } : null;
    if (body === null || object) this.reach.choose(null);
  }

  /** Takes the drag of a handle back, and lets go of what is pulled. */
  cancelDrag(): void {
    this.pull.letGo();
    this.handles?.cancel();
    this.update();
  }

  /** Where a link is in the window; for tests. [pixel] (2) */
  linkOnScreen(name: string): [number, number] | null {
    const dot = this.handles?.dots.children.find((one) => one.userData.link === name);
    return dot ? this.world.project(dot.position.x, dot.position.y, dot.position.z) : null;
  }

  /** Where a link with a handle is. [m] (3) */
  linkPosition(name: string): [number, number, number] | null {
    const dot = this.handles?.dots.children.find((one) => one.userData.link === name);
    return dot ? dot.position.toArray() : null;
  }

  /** Whether everything is drawn, and what is under the pointer is known. */
  get idle(): boolean {
    return this.world.idle && this.picking === 0;
  }

  dispose(): void {
    cancelAnimationFrame(this.picking);
    this.pull.dispose();
    this.clear();
    this.world.dispose();
  }

  private clear(): void {
    this.figures?.dispose();
    this.before?.dispose();
    this.after?.dispose();
    this.measured?.dispose();
    this.handles?.dispose();
    this.overlay?.root.removeFromParent();
    this.forces?.dispose();
    this.cones?.dispose();
  }

  /** Takes hold of the body under the pointer. */
  private takeHold(event: PointerEvent): void {
    const hit = this.figures && this.world.hit(event.clientX, event.clientY, this.figures.root);
    if (!hit || !this.figures) return;
    const index = this.figures.bodyOf(hit.object);
    const part = index === null ? null : partOf(this.studio.stage, index);
    const body = index === null ? undefined : this.figures.body(index);
    if (part === null || !body) return;
    this.pull.begin(body, part, hit.point);
    this.canvas.setPointerCapture(event.pointerId);
  }

  private pick(event: PointerEvent): number | null {
    if (!this.figures) return null;
    const object = this.world.pick(event.clientX, event.clientY, this.figures.root);
    return object ? this.figures.bodyOf(object) : null;
  }

  /** Looks for what is under the pointer, once a frame at most. */
  private readonly pickHovered = (): void => {
    this.picking = 0;
    const event = this.hovered;
    this.hovered = null;
    if (event?.buttons !== 0 || this.handles?.hovered) return;
    this.setHovered(this.pick(event));
  };

  private setHovered(body: number | null): void {
    if (body === this.studio.hoveredBody) return;
    this.studio.hoveredBody = body;
    this.studio.hoveredJoint = this.studio.joints.find((joint) => joint.body === body)?.name ?? null;
  }
}

function atRest(stage: Stage): Float32Array {
  const row = new Float32Array(stage.n_bodies * BODY_STRIDE);
  let at = 0;
  for (const robot of stage.robots) {
    for (const place of robot.bodies_at_rest) {
      row.set(place, at);
      at += BODY_STRIDE;
    }
  }
  for (const object of stage.objects) {
    row.set(object.pose, at);
    at += BODY_STRIDE;
  }
  return row;
}

function heightOf(figures: Figures): number {
  figures.root.updateMatrixWorld(true);
  const size = new Box3().setFromObject(figures.root).getSize(new Vector3());
  return Math.max(size.x, size.y, size.z, 0.05);
}

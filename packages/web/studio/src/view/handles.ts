// Handles of links: a dot on each, and arrows or rings on the one that is chosen.

import { Mesh, MeshBasicMaterial, Object3D, SphereGeometry } from 'three';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import { BODY_STRIDE } from '../session/frames';
import type { Place } from '../session/place';
import { COM } from '../session/reach.svelte';
import type { LinkDescription } from '../wire/wire';
import { COLORS } from './overlay';
import type { World } from './world';

export interface HandleListener {
  begin(): boolean;
  move(place: Place): void;
  end(): void;
}

export class Handles {
  readonly dots = new Object3D();
  private readonly gizmo: TransformControls;
  private readonly target = new Object3D();
  private readonly ball: SphereGeometry;
  private readonly look = new MeshBasicMaterial({
    color: COLORS.com,
    transparent: true,
    opacity: 0.85,
    depthTest: false,
  });
  private links: LinkDescription[] = [];
  private chosen: string | null = null;
  private held = false;

  constructor(
    private readonly world: World,
    canvas: HTMLCanvasElement,
    size: number,
    private readonly listener: HandleListener,
  ) {
    this.ball = new SphereGeometry(0.016 * size, 16, 12);
    this.gizmo = new TransformControls(world.camera, canvas);
    this.gizmo.size = 0.7;
    world.scene.add(this.dots, this.target, this.gizmo.getHelper());
    this.gizmo.addEventListener('change', () => world.invalidate());
    this.gizmo.addEventListener('dragging-changed', ({ value }) => this.dragging(value === true));
    this.gizmo.addEventListener('objectChange', () => {
      if (this.held) listener.move(this.place());
    });
    // A release that this window does not hear of ends the drag, too.
    window.addEventListener('blur', this.letGo);
  }

  show(links: LinkDescription[]): void {
    const named = (link: LinkDescription, i: number) => link.name === this.links[i]?.name;
    const stay = links.length === this.links.length && links.every(named);
    this.links = links;
    if (stay) return;
    this.dots.clear();
    for (const link of links) {
      const dot = new Mesh(this.ball, this.look);
      dot.renderOrder = 11;
      dot.userData.link = link.name;
      this.dots.add(dot);
    }
  }

  /** Puts dots and arrows where a row has the links, and where the centre of mass is; what is dragged stays where the pointer has it. */
  follow(row: Float32Array, com: [number, number, number] | null): void {
    this.links.forEach((link, i) => {
      const dot = this.dots.children[i];
      if (dot && link.name !== COM) toWorld(link, row, dot);
      else if (dot && com) dot.position.set(...com);
      if (link.name === this.chosen && dot && !this.held) {
        this.target.position.copy(dot.position);
        this.target.quaternion.copy(dot.quaternion);
      }
    });
  }

  choose(link: string | null, mode: 'translate' | 'rotate'): void {
    this.chosen = link;
    // above a point of the floor, at whatever height
    this.gizmo.setMode(link === COM ? 'translate' : mode);
    this.gizmo.showZ = link !== COM;
    if (link === null) this.gizmo.detach();
    else this.gizmo.attach(this.target);
    for (const dot of this.dots.children) dot.visible = dot.userData.link !== link;
    this.world.invalidate();
  }

  /** Marks the chosen handle: reached, at a limit, or out of reach. */
  color(color: number | null): void {
    this.gizmo.setColors(color ?? 0xe0533d, color ?? 0x3fa35b, color ?? 0x3b82c4, 0xffd54a);
    this.world.invalidate();
  }

  /** The link whose dot is at a point of the window. */
  at(x: number, y: number): string | null {
    const dot = this.dots.visible ? this.world.pick(x, y, this.dots) : null;
    return (dot?.userData.link as string | undefined) ?? null;
  }

  /** Whether the pointer is on the arrows or rings. */
  get hovered(): boolean {
    return this.gizmo.axis !== null || this.held;
  }

  /** Takes a drag back. */
  cancel(): void {
    if (!this.held) return;
    this.gizmo.reset();
    this.held = false;
    this.gizmo.dragging = false;
    this.world.orbit.enabled = true;
  }

  dispose(): void {
    window.removeEventListener('blur', this.letGo);
    this.ball.dispose();
    this.look.dispose();
    this.gizmo.dispose();
    this.gizmo.getHelper().removeFromParent();
    this.dots.removeFromParent();
    this.target.removeFromParent();
  }

  private readonly letGo = (): void => {
    if (this.held) this.gizmo.dragging = false;
  };

  private dragging(on: boolean): void {
    // the camera does not turn while a handle is dragged
    this.world.orbit.enabled = !on;
    if (on) {
      this.held = this.listener.begin();
      if (!this.held) this.gizmo.dragging = false;
    } else if (this.held) {
      this.held = false;
      this.listener.end();
    }
  }

  private place(): Place {
    const { position: p, quaternion: q } = this.target;
    return [p.x, p.y, p.z, q.x, q.y, q.z, q.w];
  }
}

const body = new Object3D();
const offset = new Object3D();

function toWorld(link: LinkDescription, row: Float32Array, out: Object3D): void {
  const at = (link.body ?? 0) * BODY_STRIDE;
  body.position.fromArray(row, at);
  body.quaternion.fromArray(row, at + 3);
  offset.position.fromArray(link.pose, 0);
  offset.quaternion.fromArray(link.pose, 3);
  out.position.copy(offset.position).applyQuaternion(body.quaternion).add(body.position);
  out.quaternion.copy(body.quaternion).multiply(offset.quaternion);
}

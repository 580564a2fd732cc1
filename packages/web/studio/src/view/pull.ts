// A spring between the pointer and a body of the running simulation.

import {
  BufferGeometry,
  Float32BufferAttribute,
  type Group,
  Line,
  LineBasicMaterial,
  type Vector3,
} from 'three';
import { Latest } from '../session/latest';
import type { Studio } from '../session/studio.svelte';
import { COLORS } from './overlay';
import type { World } from './world';

export class Pull {
  private readonly band = new Line(
    new BufferGeometry().setAttribute('position', new Float32BufferAttribute(6, 3)),
    new LineBasicMaterial({ color: COLORS.zmp, depthTest: false }),
  );
  private readonly sending: Latest;
  private body: Group | null = null;
  private part = '';
  /** Point that is held, in the body's frame, and where the pointer has it. */
  private held: Vector3 | null = null;
  private to: Vector3 | null = null;

  constructor(
    private readonly world: World,
    private readonly studio: Studio,
  ) {
    this.sending = new Latest((error) => studio.complain(error));
    this.band.renderOrder = 12;
    this.band.visible = false;
    this.band.frustumCulled = false;
    world.scene.add(this.band);
    // A release that this window does not hear of lets go, too.
    window.addEventListener('blur', this.letGo);
  }

  /** Name of what is pulled; `null` if nothing is. */
  get pulled(): string | null {
    return this.body ? this.part : null;
  }

  /** Takes hold of a body at a point of the world. */
  begin(body: Group, part: string, point: Vector3): void {
    this.body = body;
    this.part = part;
    body.updateMatrixWorld();
    this.held = body.worldToLocal(point.clone());
    this.to = point.clone();
    this.world.orbit.enabled = false;
    this.draw();
  }

  /** Pulls to where the pointer is, in the plane of the held point that faces the camera. */
  move(x: number, y: number): void {
    if (!this.to || !this.held) return;
    const to = this.world.onPlane(x, y, this.to);
    if (!to) return;
    this.to = to;
    const grab = { part: this.part, point: this.held.toArray(), to: to.toArray(), stiffness: null };
    this.sending.run(async () => {
      // it may have been let go while this waited
      if (this.body) await this.studio.socket.request('grab', grab);
    });
    this.draw();
  }

  readonly letGo = (): void => {
    if (!this.body) return;
    this.body = null;
    this.held = this.to = null;
    this.band.visible = false;
    this.world.orbit.enabled = true;
    this.sending.run(async () => {
      await this.studio.socket.request('release', {});
    });
    this.world.invalidate();
  };

  /** Draws the band from the body, which has moved, to the pointer. */
  draw(): void {
    if (!this.body || !this.held || !this.to) return;
    this.body.updateMatrixWorld();
    const from = this.body.localToWorld(this.held.clone());
    const places = this.band.geometry.getAttribute('position');
    places.setXYZ(0, from.x, from.y, from.z);
    places.setXYZ(1, this.to.x, this.to.y, this.to.z);
    places.needsUpdate = true;
    this.band.visible = true;
    this.world.invalidate();
  }

  dispose(): void {
    window.removeEventListener('blur', this.letGo);
    this.letGo();
    this.band.removeFromParent();
    this.band.geometry.dispose();
    this.band.material.dispose();
  }
}

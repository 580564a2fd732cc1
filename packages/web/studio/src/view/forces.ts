// Contact forces of the running simulation, as arrows at their points.

import { ArrowHelper, Group, Vector3 } from 'three';
import { COLORS } from './overlay';

/** Numbers of a contact in a frame: point, force on the second body, both bodies. */
const STRIDE = 8;
/** Length of the longest arrow over the height of the robot. */
const LONGEST = 0.4;
/** Part of the largest force below which a contact only lies there. */
const LEAST = 1e-3;
/** Time in which the scale forgets a blow, in frames. */
const MEMORY = 120;

/** A contact's point and the force on the body that moves. [m] (3); [N] (3) */
export interface ContactForce {
  point: [number, number, number];
  force: [number, number, number];
}

/** The contacts of a frame; of those with what stands still, the force is the one on the other. */
export function readForces(numbers: Float32Array): ContactForce[] {
  const forces: ContactForce[] = [];
  for (let at = 0; at + STRIDE <= numbers.length; at += STRIDE) {
    const of = (k: number) => numbers[at + k] ?? Number.NaN;
    const sign = of(7) < 0 ? -1 : 1;
    forces.push({
      point: [of(0), of(1), of(2)],
      force: [sign * of(3), sign * of(4), sign * of(5)],
    });
  }
  return forces;
}

export class Forces {
  readonly root = new Group();
  /** Sizes of the forces that are shown. [N] */
  sizes: number[] = [];
  private largest = 0;

  /** `size` is about the height of the robot. [m] */
  constructor(private readonly size: number) {}

  /** Shows contacts, as long as their forces are against each other. */
  show(forces: readonly ContactForce[]): void {
    const sizes = forces.map(({ force }) => Math.hypot(...force));
    // a blow sets the scale and fades, so that what rests does not flicker
    this.largest = Math.max(this.largest * (1 - 1 / MEMORY), ...sizes);
    let shown = 0;
    this.sizes = sizes.filter((newtons) => newtons > LEAST * this.largest);
    forces.forEach(({ point, force }, i) => {
      const newtons = sizes[i] ?? 0;
      if (!(newtons > LEAST * this.largest)) return;
      const arrow = this.arrow(shown++);
      arrow.position.set(...point);
      arrow.setDirection(new Vector3(...force).normalize());
      const length = (LONGEST * this.size * newtons) / this.largest;
      arrow.setLength(length, Math.min(0.3 * length, 0.06 * this.size), 0.03 * this.size);
    });
    this.root.children.forEach((arrow, i) => {
      arrow.visible = i < shown;
    });
  }

  dispose(): void {
    this.root.removeFromParent();
    for (const arrow of this.root.children) (arrow as ArrowHelper).dispose();
  }

  private arrow(index: number): ArrowHelper {
    const known = this.root.children[index];
    if (known) return known as ArrowHelper;
    const arrow = new ArrowHelper(new Vector3(0, 0, 1), new Vector3(), 1, COLORS.near);
    for (const part of [arrow.line, arrow.cone]) {
      part.renderOrder = 9;
      part.material = Object.assign(part.material, { depthTest: false, transparent: true });
    }
    this.root.add(arrow);
    return arrow;
  }
}

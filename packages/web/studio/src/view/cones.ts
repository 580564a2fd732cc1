// Cones on links, such as an angle of view: open at the far end, their tips at the links.

import { ConeGeometry, DoubleSide, Group, Mesh, MeshBasicMaterial } from 'three';
import { BODY_STRIDE } from '../session/frames';
import type { ConeOnBody } from '../session/parts';
import { COLORS } from './overlay';

/** Length of a cone over the height of the robot. */
const LENGTH = 0.6;
const OPACITY = 0.22;
/** Largest half opening that is drawn as a cone. [rad] */
const WIDEST = 1.55;

export class Cones {
  readonly root = new Group();
  private cones: readonly ConeOnBody[] = [];
  private readonly material = new MeshBasicMaterial({
    color: COLORS.com,
    transparent: true,
    opacity: OPACITY,
    side: DoubleSide,
    depthWrite: false,
  });

  /** `size` is about the height of the robot. [m] */
  constructor(private readonly size: number) {}

  show(cones: readonly ConeOnBody[]): void {
    this.clear();
    this.cones = cones;
    for (const { place, angle } of cones) {
      const half = Math.min(Math.max(angle, 0), WIDEST);
      const length = LENGTH * this.size * Math.cos(half);
      const mesh = new Mesh(new ConeGeometry(length * Math.tan(half), length, 32, 1, true), this.material);
      // the tip is at +y of a cone of three, half its length from the middle: along x, tip at the link
      mesh.rotation.z = Math.PI / 2;
      mesh.position.x = length / 2;
      mesh.renderOrder = 8;
      const link = new Group();
      link.position.fromArray(place, 0);
      link.quaternion.fromArray(place, 3);
      link.add(mesh);
      this.root.add(new Group().add(link));
    }
  }

  /** Puts the cones where a row has their bodies. */
  follow(row: Float32Array): void {
    this.cones.forEach(({ body }, i) => {
      const at = body * BODY_STRIDE;
      const holder = this.root.children[i];
      holder?.position.fromArray(row, at);
      holder?.quaternion.fromArray(row, at + 3);
    });
  }

  dispose(): void {
    this.clear();
    this.material.dispose();
    this.root.removeFromParent();
  }

  private clear(): void {
    this.root.traverse((object) => {
      if (object instanceof Mesh) object.geometry.dispose();
    });
    this.root.clear();
  }
}

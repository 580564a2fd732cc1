// Balance drawn on the floor: support polygon, centre of mass and its projection, zero moment point.

import {
  BufferGeometry,
  CircleGeometry,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  Line,
  LineBasicMaterial,
  LineLoop,
  Mesh,
  MeshBasicMaterial,
  RingGeometry,
  Shape,
  ShapeGeometry,
  SphereGeometry,
  Vector2,
} from 'three';
import type { Balance } from '../session/display.svelte';

/** Colours that people with any colour vision tell apart [Okabe and Ito 2008]; signs and shapes repeat what they say. */
export const COLORS = {
  good: 0x009e73,
  near: 0xe69f00,
  bad: 0xd55e00,
  zmp: 0xcc79a7,
  com: 0x56b4e9,
} as const;
/** Margin below which balance is near its end. [m] */
export const NEAR = 0.01;
/** Height over the floor at which marks are drawn, so that they are not lost in it. [m] */
const LIFT = 0.0006;

export type Level = 'good' | 'near' | 'bad';

export function level(margin: number | null): Level {
  if (margin === null || margin < 0) return 'bad';
  return margin < NEAR ? 'near' : 'good';
}

export class Overlay {
  readonly root = new Group();
  private readonly fill = new MeshBasicMaterial({
    transparent: true,
    opacity: 0.2,
    side: DoubleSide,
    depthWrite: false,
  });
  private readonly edge = new LineBasicMaterial({});
  private readonly polygon = new Mesh(new BufferGeometry(), this.fill);
  private readonly outline = new LineLoop(new BufferGeometry(), this.edge);
  private readonly com: Mesh;
  private readonly plumb = new Line(
    new BufferGeometry().setAttribute('position', new Float32BufferAttribute([0, 0, 0, 0, 0, -1], 3)),
    new LineBasicMaterial({ color: COLORS.com, transparent: true, opacity: 0.8, depthTest: false }),
  );
  private readonly foot = new Group();
  private readonly zmp = new Group();
  /** Corners and height of the polygon that is drawn. */
  private shown = '';

  /** `size` is about the height of the robot. [m] */
  constructor(size: number) {
    const r = 0.012 * size;
    const over = { depthTest: false, transparent: true };
    this.com = new Mesh(
      new SphereGeometry(1.5 * r, 16, 12),
      new MeshBasicMaterial({ color: COLORS.com, ...over }),
    );
    const disc = (color: number, inner: number, outer: number) =>
      new Mesh(
        new RingGeometry(inner, outer, 24),
        new MeshBasicMaterial({ color, side: DoubleSide, ...over }),
      );
    this.foot.add(disc(COLORS.com, 1.3 * r, 1.9 * r));
    this.foot.add(
      new Mesh(new CircleGeometry(0.6 * r, 16), new MeshBasicMaterial({ color: COLORS.com, ...over })),
    );
    // a diamond: four corners
    this.zmp.add(
      new Mesh(
        new RingGeometry(1.1 * r, 2.1 * r, 4),
        new MeshBasicMaterial({ color: COLORS.zmp, side: DoubleSide, ...over }),
      ),
    );
    for (const mark of [this.com, this.plumb, this.foot, this.zmp]) mark.renderOrder = 10;
    this.root.add(this.polygon, this.outline, this.com, this.plumb, this.foot, this.zmp);
  }

  /** Shows a balance; `null` hides everything. */
  show(balance: Balance | null): void {
    this.root.visible = balance !== null;
    if (!balance) return;
    const { com, floor, polygon, zmp } = balance;
    const z = floor + LIFT;
    this.com.position.set(...com);
    this.plumb.position.set(...com);
    this.plumb.scale.z = Math.max(com[2] - floor, 1e-6);
    this.foot.position.set(com[0], com[1], z);
    this.zmp.visible = zmp !== null;
    if (zmp) this.zmp.position.set(zmp[0], zmp[1], z);
    const color = COLORS[level(balance.margin)];
    this.fill.color.set(color);
    this.edge.color.set(color);
    this.polygon.visible = this.outline.visible = polygon.length >= 3;
    if (polygon.length >= 3) this.draw(polygon, z);
  }

  private draw(polygon: [number, number][], z: number): void {
    const shown = `${polygon} ${z}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const shape = new Shape(polygon.map(([x, y]) => new Vector2(x, y)));
    this.polygon.geometry.dispose();
    this.polygon.geometry = new ShapeGeometry(shape);
    this.polygon.position.z = z;
    this.outline.geometry.dispose();
    this.outline.geometry = new BufferGeometry();
    const corners = polygon.flatMap(([x, y]) => [x, y, z]);
    this.outline.geometry.setAttribute('position', new Float32BufferAttribute(corners, 3));
  }
}

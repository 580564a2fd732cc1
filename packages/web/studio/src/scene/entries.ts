// Entries of the scene around the robot, as docs/scenes.md has them, in SI units.

import type { PhysicsScene } from '../wire/wire';

export type EntryKind = 'bodies' | 'joints' | 'springs';
export type Entry = { [key: string]: unknown };
export type ShapeName = 'box' | 'sphere' | 'cylinder';

export interface Chosen {
  list: EntryKind;
  name: string;
}

/** New bodies, of about the size of a robot that is 0.3 m tall. */
export const NEW_SHAPES: Record<ShapeName, { shape: Entry; mass: number; height: number }> = {
  box: { shape: { box: [0.08, 0.08, 0.08] }, mass: 0.1, height: 0.04 },
  sphere: { shape: { sphere: { radius: 0.03 } }, mass: 0.05, height: 0.03 },
  cylinder: { shape: { cylinder: { radius: 0.03, length: 0.1 } }, mass: 0.1, height: 0.05 },
};

export const JOINT_TYPES = ['hinge', 'slider', 'ball', 'fixed'] as const;

/** A number at a path such as `pose.xyz.0`; `fallback` where there is none. */
export function numberAt(entry: Entry, path: string, fallback = 0): number {
  let at: unknown = entry;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null) return fallback;
    at = (at as Entry)[key];
  }
  return typeof at === 'number' ? at : fallback;
}

/** The entry with a value at a path; lists and maps on its course are copied, and made where they are missing. */
export function withValue(entry: Entry, path: string, value: unknown): Entry {
  const [key = '', ...rest] = path.split('.');
  const before = entry[key];
  if (rest.length === 0) return { ...entry, [key]: value };
  const index = Number(rest[0]);
  if (Number.isInteger(index)) {
    const list = Array.isArray(before) ? [...before] : [0, 0, 0];
    list[index] = value;
    return { ...entry, [key]: list };
  }
  return { ...entry, [key]: withValue((before as Entry | undefined) ?? {}, rest.join('.'), value) };
}

/** The number fields of a body's shape: path and what it is. */
export function shapeFields(entry: Entry): { path: string; name: string }[] {
  const shape = (entry.shape ?? {}) as Entry;
  if ('box' in shape) return ['x', 'y', 'z'].map((name, i) => ({ path: `shape.box.${i}`, name }));
  if ('sphere' in shape) return [{ path: 'shape.sphere.radius', name: 'radius' }];
  for (const kind of ['cylinder', 'capsule', 'cone']) {
    if (kind in shape) return ['radius', 'length'].map((name) => ({ path: `shape.${kind}.${name}`, name }));
  }
  if ('ellipsoid' in shape)
    return ['x', 'y', 'z'].map((name, i) => ({ path: `shape.ellipsoid.semi_axes.${i}`, name }));
  return [];
}

/** Entries of a kind by name. */
export function entriesOf(scene: PhysicsScene | undefined, list: EntryKind): { [name: string]: Entry } {
  return (scene?.[list] ?? {}) as { [name: string]: Entry };
}

/** Joints and springs that name a body: they go with it. */
export function connectionsOf(scene: PhysicsScene | undefined, body: string): Chosen[] {
  const names = (end: unknown) =>
    end === body || (typeof end === 'object' && end !== null && (end as Entry).part === body);
  return (['joints', 'springs'] as const).flatMap((list) =>
    Object.entries(entriesOf(scene, list))
      .filter(([, entry]) => names(entry.a) || names(entry.b))
      .map(([name]) => ({ list, name })),
  );
}

/** Name of the world as the end of a joint or spring. */
export const WORLD = 'world';
type Point = [number, number, number];

function points(value: unknown): Point {
  const [x = 0, y = 0, z = 0] = Array.isArray(value) ? (value as number[]) : [];
  return [x, y, z];
}

/** Pose of a body at the start: rows of its rotation, and its place. The world has none. */
function frameOf(scene: PhysicsScene | undefined, part: string): { rows: [Point, Point, Point]; at: Point } {
  const pose = (entriesOf(scene, 'bodies')[part]?.pose ?? {}) as Entry;
  const [roll, pitch, yaw] = points(pose.rpy);
  const [cr, sr] = [Math.cos(roll), Math.sin(roll)];
  const [cp, sp] = [Math.cos(pitch), Math.sin(pitch)];
  const [cy, sy] = [Math.cos(yaw), Math.sin(yaw)];
  // Rz(yaw) Ry(pitch) Rx(roll), as URDF has it
  const rows: [Point, Point, Point] = [
    [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
    [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
    [-sp, cp * sr, cp * cr],
  ];
  return { rows, at: points(pose.xyz) };
}

/** Where a point of a body of the scene is in the world at the start. [m] (3) */
export function inWorld(scene: PhysicsScene | undefined, part: string, point: unknown): Point {
  const { rows, at } = frameOf(scene, part);
  const p = points(point);
  const moved = rows.map((row, i) => (at[i] ?? 0) + row[0] * p[0] + row[1] * p[1] + row[2] * p[2]);
  return points(moved);
}

/** A point of the world in the frame of a body of the scene as it is at the start. [m] (3) */
export function inBody(scene: PhysicsScene | undefined, part: string, point: unknown): Point {
  const { rows, at } = frameOf(scene, part);
  const p = points(point).map((x, i) => x - (at[i] ?? 0));
  const turned = [0, 1, 2].map((i) => rows.reduce((sum, row, k) => sum + (row[i] ?? 0) * (p[k] ?? 0), 0));
  return points(turned.map((x) => Number(x.toFixed(9))));
}

/** Key of the spring of what a joint leaves free: turning, or sliding. */
export function bushingKey(entry: Entry, what: 'stiffness' | 'damping'): string {
  return `${entry.type === 'slider' ? 'linear' : 'angular'}_${what}`;
}

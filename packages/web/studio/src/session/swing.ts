// How far joints swing in a motion: their own values in its scenes and tracks, about the middle of their range.

import type { Motion, Op } from '../wire/wire';

/** Values that a motion itself gives a joint; those of poses are the poses'. [the document's unit] */
function valuesOf(motion: Motion, joint: string): number[] {
  const track = motion.tracks[joint];
  return [
    ...motion.scenes.flatMap((scene) => scene.joints[joint] ?? []),
    ...(track?.blend === 'replace' ? track.keys.map((key) => key.y) : []),
  ];
}

/** Whether a motion itself swings a joint. */
export function swings(motion: Motion, joint: string): boolean {
  return new Set(valuesOf(motion, joint)).size > 1 || motion.tracks[joint]?.blend === 'add';
}

/** Operations by which joints swing so many times as far, each value within what `within` allows. */
export function scaledSwing(
  name: string,
  motion: Motion,
  joints: string[],
  factor: number,
  within: (joint: string, value: number) => number,
): Op[] {
  const scaled = (joint: string) => {
    const values = valuesOf(motion, joint);
    const middle = (Math.min(...values) + Math.max(...values)) / 2;
    return (value: number) => within(joint, middle + factor * (value - middle));
  };
  const scales = new Map(joints.map((joint) => [joint, scaled(joint)]));
  const scenes = motion.scenes.flatMap((scene, index): Op[] => {
    const changed = [...scales].flatMap(([joint, scale]) => {
      const value = scene.joints[joint];
      return value === undefined ? [] : [[joint, scale(value)] as const];
    });
    if (changed.length === 0) return [];
    return [{ op: 'scene.joints', motion: name, index, joints: Object.fromEntries(changed) }];
  });
  const tracks = [...scales].flatMap(([joint, scale]): Op[] => {
    const track = motion.tracks[joint];
    if (!track) return [];
    const next = track.blend === 'add' ? (y: number) => factor * y : scale;
    const keys = track.keys.map((key) => ({ ...key, y: next(key.y) }));
    return [{ op: 'track.put', motion: name, joint, track: { ...track, keys }, index: null }];
  });
  return [...scenes, ...tracks];
}

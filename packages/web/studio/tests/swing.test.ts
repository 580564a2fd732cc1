import { describe, expect, it } from 'vitest';
import { scaledSwing, swings } from '../src/session/swing';
import type { Motion, Scene } from '../src/wire/wire';

const scene = (joints: Scene['joints']) => ({ pose: null, joints }) as unknown as Scene;
const key = (t: number, y: number) => ({ t, y, ease: 'smooth' as const });
const motion = {
  scenes: [scene({ arm: -10, leg: 3 }), scene({}), scene({ arm: 10 }), scene({ arm: 30 })],
  tracks: {
    head: { blend: 'add', keys: [key(0, 0), key(1, 5)] },
    leg: { blend: 'replace', keys: [key(0, 7)] },
  },
} as unknown as Motion;
const free = (_: string, value: number) => value;

describe('scaledSwing', () => {
  it('widens about the middle of the range, and leaves other joints and scenes alone', () => {
    expect(scaledSwing('walk', motion, ['arm'], 2, free)).toEqual([
      { op: 'scene.joints', motion: 'walk', index: 0, joints: { arm: -30 } },
      { op: 'scene.joints', motion: 'walk', index: 2, joints: { arm: 10 } },
      { op: 'scene.joints', motion: 'walk', index: 3, joints: { arm: 50 } },
    ]);
  });

  it('takes tracks along: those that are added about zero, the others about the middle', () => {
    const ops = scaledSwing('walk', motion, ['head', 'leg'], 3, free);
    expect(ops).toEqual([
      { op: 'scene.joints', motion: 'walk', index: 0, joints: { leg: -1 } },
      {
        op: 'track.put',
        motion: 'walk',
        joint: 'head',
        track: { blend: 'add', keys: [key(0, 0), key(1, 15)] },
        index: null,
      },
      {
        op: 'track.put',
        motion: 'walk',
        joint: 'leg',
        track: { blend: 'replace', keys: [key(0, 11)] },
        index: null,
      },
    ]);
  });

  it('stays within limits, and knows what swings', () => {
    const ops = scaledSwing('walk', motion, ['arm'], 2, (_, value) => Math.min(value, 40));
    expect(ops.at(-1)).toMatchObject({ joints: { arm: 40 } });
    expect(['arm', 'leg', 'head', 'hip'].map((joint) => swings(motion, joint))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freshName } from '../src/session/edits.svelte';
import { Latest } from '../src/session/latest';
import { mirrored, mirrorOfAxes } from '../src/session/mirror';
import { patched } from '../src/session/patch';
import { fromDocument, fromScreen, shown, toDocument, toScreen, typed } from '../src/session/units';
import type { Document, JointDescription, Mirror, RobotDescription } from '../src/wire/wire';

const mirror: Mirror = {
  pairs: [
    ['l_hip_roll', 'r_hip_roll', -1],
    ['l_knee_pitch', 'r_knee_pitch', 1],
  ],
  self: { head_yaw: -1 },
};
const JOINTS = ['l_hip_roll', 'r_hip_roll', 'l_knee_pitch', 'r_knee_pitch', 'head_yaw'];
const anyPose = fc.dictionary(
  fc.constantFrom(...JOINTS),
  fc.double({ min: -3, max: 3, noNaN: true }).map((x) => x + 0),
);

describe('mirrored', () => {
  it('exchanges sides with the sign of the table', () => {
    expect(mirrored({ l_hip_roll: 0.2, l_knee_pitch: 0.3, head_yaw: 0.1 }, mirror)).toEqual({
      r_hip_roll: -0.2,
      r_knee_pitch: 0.3,
      head_yaw: -0.1,
    });
  });

  it('twice is what was before', () => {
    fc.assert(
      fc.property(anyPose, (pose) => {
        const plain = Object.fromEntries(Object.entries(pose).map(([joint, q]) => [joint, q === 0 ? 0 : q]));
        expect(mirrored(mirrored(plain, mirror), mirror)).toEqual(plain);
      }),
    );
  });
});

describe('mirrorOfAxes', () => {
  const joint = (name: string, body: number, axis: [number, number, number], unit = 'rad') => ({
    name,
    body,
    axis,
    unit,
    mimic: null,
  });
  const robot = (joints: object[], turned = false) =>
    ({
      joints,
      bodies_at_rest: joints.map(() =>
        turned ? [0, 0, 0, 0, 0, Math.SQRT1_2, Math.SQRT1_2] : [0, 0, 0, 0, 0, 0, 1],
      ),
    }) as unknown as RobotDescription;

  it('has the signs of axes about a plane of symmetry: roll and yaw change, pitch does not', () => {
    const made = mirrorOfAxes(
      robot([
        joint('head_yaw', 0, [0, 0, 1]),
        joint('l_hip_roll', 1, [1, 0, 0]),
        joint('l_knee_pitch', 2, [0, 1, 0]),
        joint('r_hip_roll', 3, [1, 0, 0]),
        joint('r_knee_pitch', 4, [0, 1, 0]),
      ]),
    );
    expect(made).toEqual({ ...mirror });
  });

  it('goes by axes, not by names: servos that look the other way, rails, and frames that are turned', () => {
    const signs = (one: RobotDescription) => mirrorOfAxes(one)?.pairs.map((pair) => pair[2]);
    expect(signs(robot([joint('l_elbow', 0, [0, 1, 0]), joint('r_elbow', 1, [0, -1, 0])]))).toEqual([-1]);
    expect(
      signs(robot([joint('left_rail', 0, [0, 1, 0], 'm'), joint('right_rail', 1, [0, 1, 0], 'm')])),
    ).toEqual([-1]);
    // turned by 90 degrees about z, an x axis is a y axis of the world
    expect(signs(robot([joint('l_a', 0, [1, 0, 0]), joint('r_a', 1, [1, 0, 0])], true))).toEqual([1]);
  });

  it('is none of a robot that has no sides', () => {
    expect(mirrorOfAxes(robot([joint('shoulder_pan', 0, [0, 0, 1])]))).toBeNull();
  });
});

describe('units', () => {
  const turning = { name: 'j', unit: 'rad' } as JointDescription;
  const sliding = { name: 'j', unit: 'm' } as JointDescription;

  it('come back from the screen and from a document', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -4, max: 4, noNaN: true }),
        fc.constantFrom(turning, sliding),
        (q, joint) => {
          expect(fromScreen(joint, toScreen(joint, q))).toBeCloseTo(q, 12);
          expect(fromDocument(joint, 'deg', toDocument(joint, 'deg', q))).toBeCloseTo(q, 10);
        },
      ),
    );
  });

  it('leave whole degrees whole in a document', () => {
    expect(toDocument(turning, 'deg', (45 * Math.PI) / 180)).toBe(45);
    expect(toDocument(sliding, 'deg', 0.012)).toBe(0.012);
  });

  it('are read as people type them', () => {
    expect(typed('−12,5°')).toBe(-12.5);
    expect(typed('１２．５')).toBe(12.5);
    expect(typed('  3 mm')).toBe(3);
    expect(typed('')).toBeUndefined();
    expect(typed('12 apples')).toBeUndefined();
    expect(shown(-0.04, 1)).toBe('0.0');
    expect(shown(-1.25, 2)).toBe('−1.25');
  });
});

describe('patched', () => {
  const motion = (note: string) => ({ frame: 0.015, note }) as never;
  const document = {
    poses: { a: {} },
    motions: { walk: motion('w'), bow: motion('b') },
  } as unknown as Document;

  it('shares what stays and replaces what is given', () => {
    const next = patched(document, { motions: { bow: motion('c') } });
    expect(next.poses).toBe(document.poses);
    expect(Object.keys(next.motions)).toEqual(['walk', 'bow']);
    expect(next.motions.bow).toEqual({ frame: 0.015, note: 'c' });
  });

  it('drops and orders motions by the order', () => {
    const next = patched(document, { motion_order: ['run', 'walk'], motions: { run: motion('r') } });
    expect(Object.keys(next.motions)).toEqual(['run', 'walk']);
  });

  it('knows the difference between no table and no word of it', () => {
    const table = { ...document, mirror };
    expect(patched(table, {}).mirror).toBe(mirror);
    expect(patched(table, { mirror: null }).mirror).toBeNull();
  });
});

describe('Latest', () => {
  it('runs the first and the newest, never two at once', async () => {
    const latest = new Latest((error) => expect.unreachable(String(error)));
    const done: number[] = [];
    let running = 0;
    for (let i = 0; i < 5; i++) {
      latest.run(async () => {
        expect(++running).toBe(1);
        await Promise.resolve();
        done.push(i);
        running--;
      });
    }
    await latest.settled();
    expect(done).toEqual([0, 4]);
    expect(latest.idle).toBe(true);
  });

  it('goes on after a failure', async () => {
    const failures: unknown[] = [];
    const latest = new Latest((error) => failures.push(error));
    latest.run(() => Promise.reject(new Error('no')));
    await latest.settled();
    let ran = false;
    latest.run(async () => {
      ran = true;
    });
    await latest.settled();
    expect([failures.length, ran]).toEqual([1, true]);
  });
});

it('freshName counts on', () => {
  expect(freshName('bow', [])).toBe('bow');
  expect(freshName('bow', ['bow'])).toBe('bow_2');
  expect(freshName('bow_2', ['bow', 'bow_2'])).toBe('bow_3');
});

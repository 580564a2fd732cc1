import { describe, expect, test } from 'vitest';
import { energyRows } from '../src/run/energy';
import { bushingKey, inBody, inWorld } from '../src/scene/entries';
import { bodyOf, partOf } from '../src/session/parts';
import { readForces } from '../src/view/forces';
import type { PhysicsScene, Stage } from '../src/wire/wire';

const SCENE: PhysicsScene = {
  settings: {},
  bodies: {
    box: { pose: { xyz: [1, 2, 3], rpy: [0.3, -0.4, 0.5] } },
    turned: { pose: { rpy: [0, 0, Math.PI / 2] } },
  },
  joints: {},
  springs: {},
};

describe('points of bodies', () => {
  test('go to the world and back', () => {
    const there = inWorld(SCENE, 'box', [0.1, 0.2, 0.3]);
    inBody(SCENE, 'box', there).forEach((x, i) => {
      expect(x).toBeCloseTo([0.1, 0.2, 0.3][i] ?? 0, 8);
    });
  });

  test('turn with the body', () => {
    inWorld(SCENE, 'turned', [1, 0, 0]).forEach((x, i) => {
      expect(x).toBeCloseTo([0, 1, 0][i] ?? 0, 12);
    });
  });

  test('of the world are where they are', () => {
    expect(inWorld(SCENE, 'world', [1, 2, 3])).toEqual([1, 2, 3]);
    expect(inBody(SCENE, 'world', [1, 2, 3])).toEqual([1, 2, 3]);
  });
});

test('the spring of a slider is one along it', () => {
  expect(bushingKey({ type: 'slider' }, 'damping')).toBe('linear_damping');
  expect(bushingKey({ type: 'hinge' }, 'stiffness')).toBe('angular_stiffness');
});

test('causes by which nothing came are left out', () => {
  const names = ['energy.kinetic_J', 'energy.potential_J', 'ledger.servos_J', 'ledger.contacts_J'];
  expect(energyRows(names, [1, 2, 0, -3])).toEqual([
    { cause: 'kinetic', joules: 1 },
    { cause: 'potential', joules: 2 },
    { cause: 'contacts', joules: -3 },
  ]);
});

test('the force of a contact with the ground is the one on what moves', () => {
  const on = (a: number, b: number) => readForces(new Float32Array([0, 0, 0, 0, 0, -5, a, b]))[0]?.force[2];
  expect(on(2, -1)).toBe(5);
  expect(on(-1, 2)).toBe(-5);
});

test('bodies are found by the names of the simulation', () => {
  const robot = {
    name: 'arm',
    bodies: ['upper', 'fore'],
    links: [{ name: 'hand', body: 1, pose: [0, 0, 1, 0, 0, 0, 1] }],
  };
  const stage = {
    robots: [robot],
    objects: [
      { name: 'box', fixed: false },
      { name: 'wall', fixed: true },
    ],
  } as unknown as Stage;
  expect(bodyOf(stage, 'arm/hand')?.body).toBe(1);
  expect(bodyOf(stage, 'hand')?.place[2]).toBe(1);
  expect(bodyOf(stage, 'box')?.body).toBe(2);
  expect(bodyOf(stage, 'nothing')).toBeNull();
  expect([0, 2, 3, 9].map((index) => partOf(stage, index))).toEqual(['arm/upper', 'box', null, null]);
});

import { describe, expect, it } from 'vitest';
import { grouped, within } from '../src/run/parameters';
import { connectionsOf, numberAt, shapeFields, withValue } from '../src/scene/entries';
import { Series } from '../src/session/series';
import type { Parameter, PhysicsScene } from '../src/wire/wire';

const parameter = (name: string): Parameter => ({
  name,
  value: 1,
  initial: 1,
  unit: '',
  min: 0,
  max: null,
  text: '',
});

describe('grouped', () => {
  const names = ['a', 'b', 'c'].flatMap((joint) => [
    `khr1.drives.${joint}.stiffness`,
    `khr1.drives.${joint}.damping`,
  ]);
  const all = [...names, 'ground.friction', 'box.mass'].map(parameter);

  it('puts what a robot has many of together, and knows what can be scaled at once', () => {
    const groups = grouped(all, '');
    expect(groups.map((group) => [group.name, group.parameters.length, group.kinds])).toEqual([
      ['khr1.drives', 6, ['stiffness', 'damping']],
      ['ground', 1, []],
      ['box', 1, []],
    ]);
    expect(within('khr1.drives', 'khr1.drives.a.stiffness')).toBe('a.stiffness');
  });

  it('keeps what has all words of the filter', () => {
    expect(grouped(all, 'B stiff').flatMap((group) => group.parameters.map((one) => one.name))).toEqual([
      'khr1.drives.b.stiffness',
    ]);
  });
});

describe('entries', () => {
  const box = { shape: { box: [1, 2, 3] }, pose: { xyz: [0, 0, 1] } };

  it('changes one number and copies the course to it', () => {
    const next = withValue(box, 'pose.xyz.1', 5);
    expect(next).toEqual({ shape: { box: [1, 2, 3] }, pose: { xyz: [0, 5, 1] } });
    expect(next.shape).toBe(box.shape);
    expect(box.pose.xyz).toEqual([0, 0, 1]);
    expect(withValue({}, 'pose.xyz.2', 1)).toEqual({ pose: { xyz: [0, 0, 1] } });
    expect(numberAt(box, 'shape.box.2')).toBe(3);
    expect(numberAt(box, 'friction', 0.5)).toBe(0.5);
  });

  it('knows the numbers of each shape', () => {
    expect(shapeFields(box).map((field) => field.path)).toEqual([
      'shape.box.0',
      'shape.box.1',
      'shape.box.2',
    ]);
    expect(shapeFields({ shape: { capsule: {} } }).map((field) => field.name)).toEqual(['radius', 'length']);
  });

  it('finds what hangs on a body', () => {
    const scene = {
      settings: {},
      bodies: {},
      joints: { hinge: { a: 'world', b: 'box' }, other: { a: 'world', b: 'ball' } },
      springs: { spring: { a: { part: 'box' }, b: { part: 'ball' } } },
    } as unknown as PhysicsScene;
    expect(connectionsOf(scene, 'box').map((one) => one.name)).toEqual(['hinge', 'spring']);
  });
});

describe('Series', () => {
  it('keeps the last ten seconds, and begins anew when time goes back', () => {
    const series = new Series();
    for (let i = 0; i < 700; i++) series.add(['k'], i / 60, [i]);
    expect(series.times).toHaveLength(600);
    expect(series.of('k').at(-1)).toBe(699);
    expect(series.of('other')).toEqual([]);
    series.add(['k'], 0, [7]);
    expect([series.times, series.of('k')]).toEqual([[0], [7]]);
  });
});

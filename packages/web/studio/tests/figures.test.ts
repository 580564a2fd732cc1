import { Color, Mesh, type Object3D } from 'three';
import { expect, test } from 'vitest';
import { Figures } from '../src/view/figures';
import { type Detail, Meshes } from '../src/view/shapes';
import type { Stage } from '../src/wire/wire';

const RED = [0.8, 0.1, 0.1, 1];
const GLASS = [0.2, 0.2, 0.9, 0.4];
const box = (x: number, color: number[]) => ({
  body: 0,
  shape: { kind: 'box', size: [0.1, 0.2, 0.3] },
  pose: [x, 0, 0, 0, 0, 0, 1],
  color,
});

/** One body: two opaque boxes and one of glass. */
const STAGE = {
  robots: [{ bodies: ['base'], visuals: [box(1, RED), box(2, [0.1, 0.8, 0.1, 1]), box(3, GLASS)] }],
  objects: [],
} as unknown as Stage;

function figures(detail: Detail, look = {}): Mesh[] {
  const never = () => {
    throw new Error('no mesh is loaded');
  };
  const made = new Figures(STAGE, new Meshes(''), detail, look, never, never);
  const meshes: Mesh[] = [];
  made.root.traverse((object: Object3D) => {
    if (object instanceof Mesh) meshes.push(object);
  });
  return meshes;
}

test('opaque shapes of a body are drawn as one in low detail', () => {
  expect(figures('fine').length).toBe(3);
  const [glass, opaque] = figures('coarse');
  expect(figures('coarse').length).toBe(2);
  expect(glass?.material).toMatchObject({ opacity: 0.4 });
  const places = opaque?.geometry.getAttribute('position');
  const colors = opaque?.geometry.getAttribute('color');
  expect(places?.count).toBe(48);
  for (let i = 0; i < 48; i++) {
    const isFirst = i < 24;
    expect(Math.abs((places?.getX(i) ?? 0) - (isFirst ? 1 : 2))).toBeCloseTo(0.05, 6);
    const { r, g } = new Color().setRGB(0.8, 0.1, 0.1, 'srgb');
    expect(colors?.getX(i)).toBeCloseTo(isFirst ? r : g, 6);
  }
});

test('ghosts have the colour of ghosts in low detail', () => {
  for (const { material } of figures('coarse', { ghost: { color: 0x56b4e9, opacity: 0.2 } })) {
    expect(material).toMatchObject({ vertexColors: false, opacity: 0.2 });
    expect((material as unknown as { color: Color }).color.getHex()).toBe(0x56b4e9);
  }
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { panned, snapped, ticks, zoomed } from '../src/motion/scale';

describe('time axis', () => {
  it('labels round times', () => {
    expect(ticks({ from: 0, to: 1 }, 400)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(ticks({ from: 0.95, to: 1.05 }, 300)).toEqual([0.95, 1, 1.05]);
  });

  it('keeps the time under the pointer where it is, away from the ends', () => {
    const range = zoomed({ from: 0, to: 10 }, 4, 0.5, 10);
    expect((4 - range.from) / (range.to - range.from)).toBeCloseTo(0.4, 9);
    expect(range.to - range.from).toBeCloseTo(5, 9);
  });

  it('never leaves the motion', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 20, noNaN: true }),
        fc.double({ min: -50, max: 50, noNaN: true }),
        (length, by) => {
          const range = panned({ from: 0, to: length }, by, 30);
          expect(range.from).toBeGreaterThanOrEqual(0);
          expect(range.to).toBeLessThanOrEqual(30 * 1.02 + 1e-9);
        },
      ),
    );
  });

  it('snaps to whole frames', () => {
    expect(snapped(0.1, 0.015)).toBe(0.105);
    expect(snapped(snapped(0.1, 0.015), 0.015)).toBe(0.105);
  });
});

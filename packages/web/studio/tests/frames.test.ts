import { describe, expect, it } from 'vitest';
import { Clip, GrowingClip, readFrame } from '../src/session/frames';

function frame(version: number, numbers: number[]): ArrayBuffer {
  const bytes = new ArrayBuffer(16 + 4 * numbers.length);
  const view = new DataView(bytes);
  view.setUint8(0, 1);
  view.setUint8(1, version);
  view.setUint16(2, 513, true);
  view.setUint32(4, 70_000, true);
  view.setFloat64(8, 1.25, true);
  new Float32Array(bytes, 16).set(numbers);
  return bytes;
}

describe('readFrame', () => {
  it('reads header and numbers, little-endian', () => {
    const read = readFrame(frame(1, [1, -2.5]));
    expect(read).toMatchObject({ kind: 1, stream: 513, seq: 70_000, time: 1.25 });
    expect([...(read?.numbers ?? [])]).toEqual([1, -2.5]);
  });

  it('passes over versions and lengths that it does not know', () => {
    expect(readFrame(frame(2, []))).toBeUndefined();
    expect(readFrame(new ArrayBuffer(15))).toBeUndefined();
    expect(readFrame(new ArrayBuffer(18))).toBeUndefined();
  });
});

describe('Clip', () => {
  // one body that moves along x and turns by 180 degrees about z, one joint
  const row = (x: number, angle: number, q: number) => [
    x,
    0,
    0,
    0,
    0,
    Math.sin(angle / 2),
    Math.cos(angle / 2),
    q,
    0,
    0,
  ];
  const clip = new Clip(
    new Float32Array([...row(0, 0, 1), ...row(1, Math.PI / 2, 3), ...row(2, Math.PI, 2)]),
    1,
    1,
    0.5,
  );

  it('has the joints on rows and between them, and holds both ends', () => {
    expect(clip.duration).toBe(1);
    expect(clip.position(0, 0.5)).toBe(3);
    expect(clip.position(0, 0.25)).toBeCloseTo(2, 6);
    expect(clip.position(0, -1)).toBe(1);
    expect(clip.position(0, 9)).toBe(2);
  });

  it('has a last step that may be shorter', () => {
    const short = new Clip(clip.rows, 1, 1, 0.5, 0.6);
    expect([short.duration, short.position(0, 0.5), short.position(0, 0.6)]).toEqual([0.6, 3, 2]);
    expect(short.position(0, 0.55)).toBeCloseTo(2.5, 6);
    expect([short.nearest(0.54), short.nearest(0.56)]).toEqual([1, 2]);
  });

  it('turns bodies along the shorter arc, whatever the sign of a quaternion', () => {
    const flipped = Float32Array.from(clip.rows, (value, i) => (i >= 13 && i < 17 ? -value : value));
    const out = new Float32Array(7);
    for (const one of [clip, new Clip(flipped, 1, 1, 0.5)]) {
      one.sampleBodies(0.25, out);
      expect(out[0]).toBeCloseTo(0.5, 6);
      expect(2 * Math.atan2(out[5] ?? 0, out[6] ?? 0)).toBeCloseTo(Math.PI / 4, 5);
      expect(Math.hypot(...out.subarray(3))).toBeCloseTo(1, 6);
    }
  });
});

describe('GrowingClip', () => {
  it('puts parts together, and refuses those that leave a gap', () => {
    // one joint and no body: rows of three numbers
    const growing = new GrowingClip(0, 1, 0.5);
    expect(growing.add(0, new Float32Array([1, 0, 0, 2, 0, 0]))).toBe(true);
    const early = growing.clip();
    expect(growing.add(3, new Float32Array([9, 0, 0]))).toBe(false);
    expect(growing.add(2, new Float32Array([3, 0, 0, 4, 0, 0]))).toBe(true);
    expect(growing.nRows).toBe(4);
    expect(growing.clip().position(0, 1.25)).toBeCloseTo(3.5, 6);
    expect(growing.clip().duration).toBe(1.5);
    expect([early.nRows, early.position(0, 9)]).toEqual([2, 2]);
  });
});

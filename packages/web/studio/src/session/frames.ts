// Binary frames of the wire, docs/studio-wire.md: a header of 16 bytes, then numbers of single precision, little-endian.

export const KIND = { state: 1, clip: 2, contacts: 3, plots: 4, measured: 5 } as const;
const VERSION = 1;
const HEADER_BYTES = 16;

/** Numbers of a body in a row: `x y z qx qy qz qw`. */
export const BODY_STRIDE = 7;
/** Distance in rows below which a time is on a row. */
const ON_ROW = 1e-6;
/** Numbers of a joint in a row: position, velocity, effort. */
export const JOINT_STRIDE = 3;

export interface Frame {
  kind: number;
  /** Number of the stage that the frame is of. */
  stream: number;
  /** Number of the frame. */
  seq: number;
  /** Time that the frame is of. [s] */
  time: number;
  numbers: Float32Array;
}

/** Reads a frame; `undefined` for those of a version that this page does not know. */
export function readFrame(bytes: ArrayBuffer): Frame | undefined {
  if (bytes.byteLength < HEADER_BYTES || (bytes.byteLength - HEADER_BYTES) % 4 !== 0) return undefined;
  const view = new DataView(bytes);
  if (view.getUint8(1) !== VERSION) return undefined;
  return {
    kind: view.getUint8(0),
    stream: view.getUint16(2, true),
    seq: view.getUint32(4, true),
    time: view.getFloat64(8, true),
    numbers: new Float32Array(bytes, HEADER_BYTES),
  };
}

/** Rows at a fixed time step, the last at the end, which may be nearer: per row the poses of all bodies, then position, velocity and effort of all joints. */
export class Clip {
  readonly nRows: number;
  /** Time of the last row. [s] */
  readonly duration: number;
  private readonly stride: number;

  constructor(
    readonly rows: Float32Array,
    readonly nBodies: number,
    readonly nJoints: number,
    /** Time between rows. [s] */
    readonly dt: number,
    /** Time of the last row; whole steps if not given. [s] */
    end?: number,
  ) {
    this.stride = nBodies * BODY_STRIDE + nJoints * JOINT_STRIDE;
    this.nRows = this.stride > 0 ? Math.floor(rows.length / this.stride) : 0;
    this.duration = end ?? Math.max(0, this.nRows - 1) * dt;
  }

  /** Index of the row nearest to a time, held at both ends. */
  nearest(time: number): number {
    return Math.round(this.row(time));
  }

  /** Place of a time among the rows, whole on a row. */
  private row(time: number): number {
    const last = Math.max(0, this.nRows - 1);
    if (time >= this.duration) return last;
    // the last step may be a short one
    const whole = Math.max(0, last - 1);
    const rest = this.duration - whole * this.dt;
    const at = time > whole * this.dt && rest > 0 ? whole + (time - whole * this.dt) / rest : time / this.dt;
    const nearest = Math.round(at);
    return Math.max(0, Math.abs(at - nearest) < ON_ROW ? nearest : at);
  }

  /** Poses of the bodies of a row, a view of the clip. */
  bodies(row: number): Float32Array {
    const start = row * this.stride;
    return this.rows.subarray(start, start + this.nBodies * BODY_STRIDE);
  }

  /** Position, velocity and effort of the joints of a row, a view of the clip. */
  joints(row: number): Float32Array {
    const start = row * this.stride + this.nBodies * BODY_STRIDE;
    return this.rows.subarray(start, start + this.nJoints * JOINT_STRIDE);
  }

  /** Position of a joint at a time, straight between rows. [rad or m] */
  position(joint: number, time: number): number {
    return this.interpolate(joint * JOINT_STRIDE + this.nBodies * BODY_STRIDE, time);
  }

  private interpolate(offset: number, time: number): number {
    const at = this.row(time);
    const lower = Math.floor(at);
    const a = this.rows[lower * this.stride + offset] ?? Number.NaN;
    const b = this.rows[Math.min(lower + 1, this.nRows - 1) * this.stride + offset] ?? Number.NaN;
    return a + (at - lower) * (b - a);
  }

  /** Writes the bodies' poses at a time into `out`: positions straight, orientations along the shorter arc, normalised. */
  sampleBodies(time: number, out: Float32Array): void {
    const at = this.row(time);
    const lower = Math.floor(at);
    const u = at - lower;
    const a = this.bodies(lower);
    const b = this.bodies(Math.min(lower + 1, this.nRows - 1));
    for (let i = 0; i < out.length; i += BODY_STRIDE) {
      let dot = 0;
      for (let k = 3; k < BODY_STRIDE; k++) dot += (a[i + k] ?? 0) * (b[i + k] ?? 0);
      const sign = dot < 0 ? -1 : 1;
      let norm = 0;
      for (let k = 0; k < BODY_STRIDE; k++) {
        const from = a[i + k] ?? 0;
        const to = (k < 3 ? 1 : sign) * (b[i + k] ?? 0);
        const value = from + u * (to - from);
        out[i + k] = value;
        if (k >= 3) norm += value * value;
      }
      const scale = norm > 0 ? 1 / Math.sqrt(norm) : 1;
      for (let k = 3; k < BODY_STRIDE; k++) out[i + k] = (out[i + k] ?? 0) * scale;
    }
  }
}

/** Rows that come in parts. */
export class GrowingClip {
  private rows = new Float32Array(0);
  private n = 0;

  constructor(
    private readonly nBodies: number,
    private readonly nJoints: number,
    /** Time between rows. [s] */
    private readonly dt: number,
  ) {}

  get nRows(): number {
    return this.n / this.stride;
  }

  /** Adds rows; `false` where those before them are missing. */
  add(first: number, numbers: Float32Array): boolean {
    if (first * this.stride !== this.n || numbers.length % this.stride !== 0) return false;
    const n = this.n + numbers.length;
    if (n > this.rows.length) {
      const larger = new Float32Array(2 * n);
      larger.set(this.rows.subarray(0, this.n));
      this.rows = larger;
    }
    this.rows.set(numbers, this.n);
    this.n = n;
    return true;
  }

  /** The rows so far, a view. */
  clip(): Clip {
    return new Clip(this.rows.subarray(0, this.n), this.nBodies, this.nJoints, this.dt);
  }

  private get stride(): number {
    return this.nBodies * BODY_STRIDE + this.nJoints * JOINT_STRIDE;
  }
}

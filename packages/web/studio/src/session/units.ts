// Between the units of the wire (rad, m), of a document (its angle, m) and of the screen (degree, mm).

import type { AngleUnit, JointDescription } from '../wire/wire';

const DEGREE = Math.PI / 180;

/** A position of the wire [rad or m] in the document's unit. */
export function toDocument(joint: JointDescription, unit: AngleUnit, position: number): number {
  return joint.unit === 'rad' && unit === 'deg' ? tidy(position / DEGREE) : tidy(position);
}

/** A position in the document's unit on the wire. [rad or m] */
export function fromDocument(joint: JointDescription, unit: AngleUnit, position: number): number {
  return joint.unit === 'rad' && unit === 'deg' ? position * DEGREE : position;
}

/** A position of the wire [rad or m] as it is shown: in degrees or millimetres. */
export function toScreen(joint: JointDescription, position: number): number {
  return joint.unit === 'rad' ? position / DEGREE : position * 1000;
}

/** A shown position [degree or mm] on the wire. [rad or m] */
export function fromScreen(joint: JointDescription, shown: number): number {
  return joint.unit === 'rad' ? shown * DEGREE : shown / 1000;
}

/** Unit of a joint on the screen. */
export function screenUnit(joint: JointDescription): string {
  return joint.unit === 'rad' ? '°' : 'mm';
}

/** A shown number with a minus sign of its own width. */
export function shown(value: number, digits: number): string {
  const text = (Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value).toFixed(digits);
  return text.replace('-', '\u2212');
}

/** What a person typed, with a minus sign or a comma of any kind; `undefined` where it is no number. */
export function typed(text: string): number | undefined {
  const plain = text
    .trim()
    .normalize('NFKC')
    .replace(/[\u2212\u2013]/g, '-')
    .replace(',', '.');
  const value = Number(plain.replace(/(°|deg|mm)$/, ''));
  return plain === '' || !Number.isFinite(value) ? undefined : value;
}

/** Without the last digits that conversions leave: files stay readable. */
export function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

// The eases that a list can offer: those without numbers of their own.

import type { Ease } from '../wire/wire';

export const EASES = [
  'hold',
  'linear',
  'smooth',
  'minimum_jerk',
  'natural',
  'clamped',
  'monotone',
  'periodic',
] as const satisfies readonly Ease[];

export type NamedEase = (typeof EASES)[number];

/** Name of an ease; `bezier` of those with handles. */
export function easeName(ease: Ease): NamedEase | 'bezier' {
  return typeof ease === 'string' ? (ease as NamedEase) : 'bezier';
}

// The time axis that timeline and strip share.

/** The part of a motion that is shown. [s] */
export interface Range {
  from: number;
  to: number;
}

/** Steps between labels of an axis. [s] */
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];
/** Least distance of labels. [pixel] */
const LABEL_SPACE = 64;
const SHORTEST = 0.05;

/** Times of labels in a range that is `width` pixels wide. */
export function ticks(range: Range, width: number): number[] {
  const perPixel = (range.to - range.from) / Math.max(width, 1);
  const step = STEPS.find((one) => one >= perPixel * LABEL_SPACE) ?? 600;
  const first = Math.ceil(range.from / step - 1e-9);
  const last = Math.floor(range.to / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    Number(((first + i) * step).toFixed(6)),
  );
}

/** The range after a zoom about a time that keeps its place; `factor` below 1 shows less. */
export function zoomed(range: Range, about: number, factor: number, duration: number): Range {
  const length = Math.min(
    Math.max((range.to - range.from) * factor, SHORTEST),
    Math.max(duration * 1.02, SHORTEST),
  );
  const share = (about - range.from) / (range.to - range.from);
  return within({ from: about - share * length, to: about + (1 - share) * length }, duration);
}

/** The range moved along. */
export function panned(range: Range, by: number, duration: number): Range {
  return within({ from: range.from + by, to: range.to + by }, duration);
}

function within({ from, to }: Range, duration: number): Range {
  const end = Math.max(duration * 1.02, SHORTEST);
  const length = to - from;
  const start = Math.min(Math.max(from, 0), Math.max(0, end - length));
  return { from: start, to: start + length };
}

/** A time on the raster of a period. */
export function snapped(time: number, period: number): number {
  return Number((Math.round(time / period) * period).toFixed(9));
}

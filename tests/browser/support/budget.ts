// What the page may take. Times are those of a quiet machine: `KARAKURI_BUDGETS=1` asks for them, docs/benchmarks.md has what was
// measured. Without it only what a fault makes of them fails a test, as other programs may run beside it.

const SLACK = process.env.KARAKURI_BUDGETS === undefined ? 5 : 1;

/** The longest time that passes. [ms] */
export const longest = (budget: number): number => SLACK * budget;

/** The least rate that passes. [1/s] */
export const least = (budget: number): number => budget / SLACK;

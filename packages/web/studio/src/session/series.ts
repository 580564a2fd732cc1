// The last seconds of the quantities that a simulation plots.

/** Samples that a plot keeps: 10 s at 60 Hz. */
const KEPT = 600;

export class Series {
  readonly times: number[] = [];
  private readonly values = new Map<string, number[]>();
  private names: readonly string[] = [];

  /** Adds a sample; an earlier time, or other names, begin anew. */
  add(names: readonly string[], time: number, numbers: ArrayLike<number>): void {
    const last = this.times.at(-1);
    if (names.join('\n') !== this.names.join('\n') || (last !== undefined && time < last)) this.clear(names);
    this.times.push(time);
    names.forEach((name, i) => {
      this.values.get(name)?.push(numbers[i] ?? Number.NaN);
    });
    if (this.times.length <= KEPT) return;
    this.times.shift();
    for (const values of this.values.values()) values.shift();
  }

  /** Values of a quantity, one a time; empty where nothing plots it. */
  of(name: string): number[] {
    return this.values.get(name) ?? [];
  }

  private clear(names: readonly string[]): void {
    this.names = [...names];
    this.times.length = 0;
    this.values.clear();
    for (const name of names) this.values.set(name, []);
  }
}

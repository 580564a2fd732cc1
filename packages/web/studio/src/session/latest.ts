// Work of which only the newest counts.

/** Runs one task at a time; of those that wait, the newest, and the others never. */
export class Latest {
  private running = false;
  private working: Promise<void> = Promise.resolve();
  private next: (() => Promise<void>) | undefined;

  constructor(private readonly failed: (error: unknown) => void) {}

  /** Whether nothing runs or waits. */
  get idle(): boolean {
    return !this.running && this.next === undefined;
  }

  run(task: () => Promise<void>): void {
    this.next = task;
    if (!this.running) this.working = this.work();
  }

  /** Waits until nothing runs or waits. */
  settled(): Promise<void> {
    return this.working;
  }

  private async work(): Promise<void> {
    this.running = true;
    while (this.next) {
      const task = this.next;
      this.next = undefined;
      try {
        await task();
      } catch (error) {
        this.failed(error);
      }
    }
    this.running = false;
  }
}

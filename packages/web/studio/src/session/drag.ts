// A drag: shown while it goes on, one step of history at its end.

import type { Op } from '../wire/wire';
import type { Socket } from './socket';

/** Sends the newest state of a drag, one update in flight: what came meanwhile replaces what waits. */
export class Drag {
  private queued: Op[] | undefined;
  private inFlight: Promise<void> | undefined;
  private readonly begun: Promise<unknown>;

  constructor(
    /** `null`: nothing of the document is dragged. */
    private readonly socket: Socket | null,
    label: string,
  ) {
    this.begun = socket?.request('begin', { label }) ?? Promise.resolve();
  }

  /** Shows these changes, in place of those of the last update. */
  update(ops: Op[]): void {
    this.queued = ops;
    this.inFlight ??= this.send();
  }

  /** Makes the last update a step of history. */
  async commit(): Promise<void> {
    await this.settle();
    await this.socket?.request('commit');
  }

  /** Leaves the document as it was before the drag. */
  async cancel(): Promise<void> {
    this.queued = undefined;
    await this.settle();
    await this.socket?.request('cancel');
  }

  private async settle(): Promise<void> {
    await this.begun;
    await this.inFlight;
  }

  private async send(): Promise<void> {
    try {
      await this.begun;
      while (this.queued) {
        const ops = this.queued;
        this.queued = undefined;
        await this.socket?.request('update', { ops });
      }
    } finally {
      this.inFlight = undefined;
    }
  }
}

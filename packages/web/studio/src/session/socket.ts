// The connection to the server: requests by number, events, frames.

import type { Event, Operation, WireError } from '../wire/wire';
import { PROTOCOL } from '../wire/wire';
import { type Frame, readFrame } from './frames';

/** Period of the sign of life, below the 500 ms after which the server holds a robot. [ms] */
const PING_PERIOD = 150;

/** A request that the server refused. */
export class Refused extends Error {
  constructor(readonly error: WireError) {
    super(error.hint === '' ? error.text : `${error.text}; ${error.hint}`);
  }
}

/** The connection ended before the answer came. */
export class Disconnected extends Error {}

export interface Listener {
  event(event: Event): void;
  frame(frame: Frame): void;
  closed(reason: string): void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Answer = { id: number } & (
  | { ok: true; rev: number; result: unknown }
  | { ok?: false; error: WireError }
);

export type OperationName = Operation['op'];
export type Arguments<N extends OperationName> =
  Extract<Operation, { op: N }> extends { args: infer A } ? A : never;

export class Socket {
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private pinging: ReturnType<typeof setInterval> | undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly listener: Listener,
  ) {
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', (message) => this.receive(message.data));
    socket.addEventListener('close', (close) => this.end(close.reason));
  }

  /** Opens the connection to the server that this page came from. */
  static open(listener: Listener): Promise<Socket> {
    const address = new URL('/ws', location.href);
    address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(address, PROTOCOL);
    return new Promise((resolve, reject) => {
      socket.addEventListener('open', () => resolve(new Socket(socket, listener)), { once: true });
      socket.addEventListener('error', () => reject(new Disconnected('the server does not answer')), {
        once: true,
      });
    });
  }

  /** Number of requests without an answer. */
  get pending(): number {
    return this.waiting.size;
  }

  /** Sends a request; the promise is its result. */
  request<R>(op: OperationName, args: object = {}, rev?: number): Promise<R> {
    if (this.socket.readyState !== WebSocket.OPEN)
      return Promise.reject(new Disconnected('there is no connection'));
    const id = this.nextId++;
    this.socket.send(JSON.stringify({ id, op, rev, args }));
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
    });
  }

  /** Sends what has no answer. */
  tell(op: 'ack' | 'ping', args: object = {}): void {
    if (this.socket.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify({ id: this.nextId++, op, args }));
  }

  /** Shows the server that the user is there, or stops to. */
  keepAlive(on: boolean): void {
    clearInterval(this.pinging);
    this.pinging = on ? setInterval(() => this.tell('ping'), PING_PERIOD) : undefined;
  }

  close(): void {
    this.socket.close();
  }

  private receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const frame = readFrame(data);
      if (frame) this.listener.frame(frame);
      return;
    }
    const message = JSON.parse(String(data)) as Answer | Event;
    if ('ev' in message) this.listener.event(message);
    else this.answer(message);
  }

  private answer(answer: Answer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.result);
    else waiting?.reject(new Refused(answer.error));
  }

  private end(reason: string): void {
    this.keepAlive(false);
    for (const waiting of this.waiting.values()) waiting.reject(new Disconnected('the connection ended'));
    this.waiting.clear();
    this.listener.closed(reason);
  }
}

// A running `karakuri studio`, in a folder of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export const ROOT = resolve(__dirname, '../../..');
export const PROGRAM = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target'), 'release/karakuri');
/** Time in which the server must be there. [ms] */
const START = 20_000;

/** A folder with the robot KHR-1 and the files given; removed at the end. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'karakuri-studio-'));

  constructor() {
    cpSync(join(ROOT, 'urdf/khr1'), join(this.path, 'urdf/khr1'), { recursive: true });
    cpSync(join(ROOT, 'config/khr1.yaml'), join(this.path, 'config/khr1.yaml'));
  }

  file(name: string): string {
    return join(this.path, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.file(name), text);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export class Server {
  private constructor(
    private readonly child: ChildProcess,
    /** Address with its secret, as the program prints it. */
    readonly address: string,
  ) {}

  static async start(folder: string, file: string, more: string[] = []): Promise<Server> {
    // with the page that is in the program
    const args = ['studio', join(folder, file), '--port', '0', '--folder', folder, ...more];
    const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
    const said: string[] = [];
    child.stderr.on('data', (data) => said.push(String(data)));
    const address = await new Promise<string>((found, failed) => {
      const late = setTimeout(() => failed(new Error(`no address after ${START} ms: ${said.join('')}`)), START);
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (!line.startsWith('http')) return;
        clearTimeout(late);
        found(line.trim());
      });
      child.on('exit', (code) => failed(new Error(`karakuri studio ended with ${code}: ${said.join('')}`)));
      child.on('error', failed);
    });
    return new Server(child, address);
  }

  /** Asks it to end, as Ctrl-C does; its exit code. */
  stop(): Promise<number | null> {
    return this.end('SIGINT');
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  private end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return Promise.resolve(this.child.exitCode);
    return new Promise((ended) => {
      this.child.on('exit', (code) => ended(code));
      this.child.kill(signal);
    });
  }
}

// What the page knows: the server's state as it last said it, and what only this browser has (selection, playhead, notices).

import { getContext, setContext } from 'svelte';
import { currentLanguage, t } from '../i18n/index.svelte';
import type {
  BoardState,
  Document,
  Event,
  FileState,
  JointDescription,
  LeaseState,
  LiveState,
  Motion,
  Op,
  Parameter,
  PreviewState,
  Recovery,
  RobotDescription,
  RunState,
  Scene,
  ScriptState,
  Stage,
  Support,
  Welcome,
} from '../wire/wire';
import { Display } from './display.svelte';
import { BODY_STRIDE, type Frame, JOINT_STRIDE, KIND } from './frames';
import { type ConeOnBody, conesOf } from './parts';
import { patched } from './patch';
import { Player } from './player.svelte';
import { Series } from './series';
import { Disconnected, Refused, Socket } from './socket';

/** What the sliders and handles change. */
export type Selection =
  | { kind: 'free' }
  | { kind: 'pose'; name: string }
  | { kind: 'scene'; motion: string; index: number };

export type Connection = 'connecting' | 'open' | 'refused' | 'lost';

export interface Notice {
  id: number;
  level: 'info' | 'warning' | 'error';
  text: string;
}

/** The robot as measured. */
export interface Measured {
  /** Poses of its bodies in the first of them, in the order of its description. */
  bodies: Float32Array;
  /** Positions of the joints that are measured. [rad or m] */
  joints: { [joint: string]: number };
}

/** Age of a measurement from which on it is not shown. [ms] */
const STALE = 1000;
/** Time after which a lost connection is tried again. [ms] */
const RECONNECT = 1000;
/** Time for which a notice is shown. [ms] */
const NOTICE = 8000;

export class Studio {
  connection = $state<Connection>('connecting');
  refusal = $state('');
  client = $state('');
  version = $state('');
  rev = $state(0);
  document = $state.raw<Document | null>(null);
  stage = $state.raw<Stage | null>(null);
  file = $state.raw<FileState>({ path: null, kind: '', changed: false });
  recovery = $state.raw<Recovery | null>(null);
  lease = $state.raw<LeaseState>({ holder: null, asked_by: null, clients: [] });
  run = $state.raw<RunState | null>(null);
  preview = $state.raw<PreviewState | null>(null);
  /** Revision of the document of which the last preview is. */
  previewRev = $state(-1);
  live = $state.raw<LiveState | null>(null);
  board = $state.raw<BoardState | null>(null);
  /** The robot as measured; `null` where nothing was for a second. */
  measured = $state.raw<Measured | null>(null);
  scripts = $state.raw<ScriptState[]>([]);
  parameters = $state.raw<Parameter[]>([]);
  exportFormats = $state.raw<string[]>([]);
  undoLabel = $state<string | null>(null);
  redoLabel = $state<string | null>(null);

  selection = $state.raw<Selection>({ kind: 'free' });
  motionName = $state<string | null>(null);
  hoveredJoint = $state<string | null>(null);
  hoveredBody = $state<number | null>(null);
  /** Whether a joint takes its mirror image along. */
  symmetric = $state(false);
  locked = $state.raw<ReadonlySet<string>>(new Set());
  /** The feet that stand in a pose that is no scene. */
  poseSupport = $state<Support>('auto');
  notices = $state.raw<Notice[]>([]);

  readonly player = new Player(() => this.display.timeMoved());
  readonly display = new Display(this);

  /** What the simulation plots, and the number of samples. */
  readonly series = new Series();
  sample = $state(0);

  private readonly listeners = new Set<(frame: Frame) => void>();

  private socketOrNull: Socket | null = null;
  /** Settled when the last edit is answered. */
  private edited: Promise<void> = Promise.resolve();
  /** Whether the edit that waits for its answer has what it changes asked for already. */
  private asksWithEdit = false;
  /** What the edit changed, until that has come. */
  private readonly held: Event[] = [];
  private nextNotice = 1;
  private stale: ReturnType<typeof setTimeout> | undefined;
  private closing = false;

  constructor(readonly token: string) {}

  /** The robot that is edited: the first of the stage. */
  readonly robot: RobotDescription | null = $derived(this.stage?.robots[0] ?? null);
  readonly joints: JointDescription[] = $derived(this.robot?.joints ?? []);
  readonly jointIndex: ReadonlyMap<string, number> = $derived(
    new Map(this.joints.map((joint, index) => [joint.name, index])),
  );
  readonly motion: Motion | null = $derived(this.document?.motions[this.motionName ?? ''] ?? null);
  /** Whether this client may change things. */
  readonly mayEdit: boolean = $derived(this.connection === 'open' && this.lease.holder === this.client);
  readonly running: boolean = $derived(this.run !== null && this.run.phase !== 'stopped');

  /** The scene that is selected. */
  readonly scene: Scene | null = $derived.by(() => {
    const selection = this.selection;
    if (selection.kind !== 'scene') return null;
    return this.document?.motions[selection.motion]?.scenes[selection.index] ?? null;
  });

  /** Cones of the panels, on their bodies. */
  readonly cones: ConeOnBody[] = $derived(conesOf(this.document, this.stage));

  /** Tells of each frame of states, contacts, plots and measurements, until the function that it returns is called. */
  listen(listener: (frame: Frame) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  get socket(): Socket {
    if (!this.socketOrNull) throw new Disconnected('there is no connection');
    return this.socketOrNull;
  }

  /** Number of requests without an answer. */
  get pending(): number {
    return this.socketOrNull?.pending ?? 0;
  }

  /** Connects, and again whenever the connection is lost, until the server refuses. */
  async connect(): Promise<void> {
    try {
      const socket = await Socket.open({
        event: (event) => this.receive(event),
        frame: (frame) => this.receiveFrame(frame),
        closed: (reason) => this.lost(reason),
      });
      this.socketOrNull = socket;
      const hello = { token: this.token, lang: currentLanguage(), name: '' };
      this.welcome(await socket.request<Welcome>('hello', hello));
      this.connection = 'open';
      socket.keepAlive(true);
    } catch (error) {
      if (error instanceof Refused) this.refuse(error.error.text);
      else if (!this.socketOrNull) this.lost('');
    }
  }

  /** Asks the server; what it refuses becomes a notice, and `undefined`. */
  async ask<R>(op: Parameters<Socket['request']>[0], args: object = {}): Promise<R | undefined> {
    try {
      return await this.socket.request<R>(op, args, this.rev);
    } catch (error) {
      this.complain(error);
      return undefined;
    }
  }

  /** Sends changes of the document as one step of history; whether the server took them. */
  async edit(ops: Op[], label: string): Promise<boolean> {
    if (ops.length === 0) return false;
    const send = () => this.sendEdit(ops, label);
    // One after the other: the server refuses an edit by index of an older document than its own.
    this.edited = this.edited.then(send, send);
    try {
      await this.edited;
      return true;
    } catch (error) {
      this.complain(error);
      return false;
    }
  }

  private async sendEdit(ops: Op[], label: string): Promise<void> {
    const answer = this.socket.request('edit', { ops, label }, this.rev);
    // Requests are answered in their order: what is shown is asked for with the edit, a frame sooner than after it.
    this.asksWithEdit = ops.every(movesJoints);
    if (this.asksWithEdit) this.display.documentChanged();
    try {
      await answer;
      if (this.asksWithEdit) await this.display.placed();
    } finally {
      this.asksWithEdit = false;
      this.takeHeld();
    }
  }

  /** Shows why something did not happen. */
  complain(error: unknown): void {
    if (error instanceof Disconnected) return; // the banner says so
    if (error instanceof Refused) {
      const { text, where: place, hint } = error.error;
      const where = place === '' ? '' : `${place}: `;
      this.notify('error', `${where}${text}${hint === '' ? '' : ` \u2014 ${hint}`}`);
    } else {
      console.error(error);
      this.notify('error', String(error));
    }
  }

  notify(level: Notice['level'], text: string): void {
    const id = this.nextNotice++;
    this.notices = [...this.notices.filter((notice) => notice.text !== text), { id, level, text }].slice(-4);
    if (level !== 'error') setTimeout(() => this.dismiss(id), NOTICE);
  }

  dismiss(id: number): void {
    this.notices = this.notices.filter((notice) => notice.id !== id);
  }

  /** Selects what the sliders and handles change. */
  select(selection: Selection): void {
    this.player.pause();
    this.selection = selection;
    if (selection.kind === 'scene') this.motionName = selection.motion;
    this.display.selectionChanged();
  }

  /** Shows another motion. */
  showMotion(name: string | null): void {
    this.motionName = name;
    this.player.pause();
    this.player.time = 0;
    if (this.selection.kind === 'scene') this.selection = { kind: 'free' };
    this.display.motionChanged();
  }

  /** Simulates the motion that is shown. */
  startPreview(): void {
    if (this.mayEdit && this.motionName !== null) void this.ask('preview', { motion: this.motionName });
  }

  /** Says whether the user is there. */
  present(there: boolean): void {
    this.socketOrNull?.keepAlive(there);
  }

  takeRun(run: RunState): void {
    this.run = run;
    this.display.runChanged();
  }

  takeScript(state: ScriptState): void {
    this.scripts = [...this.scripts.filter((script) => script.name !== state.name), state];
  }

  takeParameter(parameter: Parameter): void {
    this.parameters = this.parameters.map((one) => (one.name === parameter.name ? parameter : one));
  }

  /** Takes all of a file's state. */
  welcome(welcome: Welcome): void {
    this.client = welcome.client;
    this.version = welcome.version;
    this.rev = welcome.rev;
    this.document = welcome.document;
    this.stage = welcome.stage;
    this.file = welcome.file;
    this.recovery = welcome.recovery;
    this.lease = welcome.lease;
    this.run = welcome.run;
    this.preview = welcome.preview;
    this.live = welcome.live;
    this.board = welcome.board;
    this.scripts = welcome.scripts;
    this.exportFormats = welcome.export_formats;
    this.undoLabel = welcome.undo;
    this.redoLabel = welcome.redo;
    this.keepSelectionValid();
    if (this.selection.kind === 'free') this.selection = this.firstSelection();
    this.display.documentChanged();
  }

  private receive(event: Event): void {
    if (event.ev === 'doc') this.rev = event.rev;
    const isOfEdit = event.ev === 'file' || (event.ev === 'doc' && event.by === this.client);
    // With the pose that was asked for in one frame: by itself it has the page drawn once more before.
    if (this.asksWithEdit && isOfEdit) this.held.push(event);
    else {
      this.takeHeld();
      this.take(event, false);
    }
  }

  private takeHeld(): void {
    let isShown = true;
    for (const event of this.held.splice(0)) {
      this.take(event, isShown);
      // a change after that of the edit was not asked for
      isShown &&= event.ev !== 'doc';
    }
  }

  /** Takes an event; of a change that is shown already, nothing is asked for. */
  private take(event: Event, isShown: boolean): void {
    switch (event.ev) {
      case 'doc':
        this.undoLabel = event.undo;
        this.redoLabel = event.redo;
        if (this.change(event.patch) && !isShown) this.display.documentChanged();
        break;
      case 'drag':
        if (this.change(event.patch)) this.display.dragged();
        break;
      case 'stage':
        this.stage = event;
        this.display.documentChanged();
        break;
      case 'file':
        this.file = event;
        break;
      case 'lease':
        this.lease = event;
        break;
      case 'preview':
        if (event.job !== this.preview?.job) this.previewRev = this.rev;
        this.preview = event;
        this.display.previewChanged();
        break;
      case 'run':
        this.takeRun(event);
        break;
      case 'param':
        this.takeParameter(event);
        break;
      case 'live':
        this.live = event;
        break;
      case 'board':
        this.board = event;
        break;
      case 'script':
        this.takeScript(event);
        break;
      case 'log':
        this.notify(event.level, event.text);
        break;
    }
  }

  private change(patch: Parameters<typeof patched>[1]): boolean {
    if (!this.document) return false;
    this.document = patched(this.document, patch);
    this.keepSelectionValid();
    return true;
  }

  /** What a document shows at first. */
  private firstSelection(): Selection {
    const motion = this.motion;
    if (motion && motion.scenes.length > 0) return { kind: 'scene', motion: this.motionName ?? '', index: 0 };
    const pose = Object.keys(this.document?.poses ?? {})[0];
    return pose === undefined ? { kind: 'free' } : { kind: 'pose', name: pose };
  }

  /** What is selected may be gone: an undo, or another client. */
  private keepSelectionValid(): void {
    const document = this.document;
    if (!document) return;
    const selection = this.selection;
    if (selection.kind === 'pose' && !document.poses[selection.name]) this.selection = { kind: 'free' };
    if (selection.kind === 'scene') {
      const n = document.motions[selection.motion]?.scenes.length ?? 0;
      if (n === 0) this.selection = { kind: 'free' };
      else if (selection.index >= n) this.selection = { ...selection, index: n - 1 };
    }
    if (!document.motions[this.motionName ?? '']) this.motionName = Object.keys(document.motions)[0] ?? null;
  }

  private receiveFrame(frame: Frame): void {
    // a state comes alone or with others of its number, a measurement may come alone
    if (frame.kind === KIND.state || frame.kind === KIND.measured)
      this.socketOrNull?.tell('ack', { seq: frame.seq });
    if (frame.stream === this.stage?.number) this.display.frame(frame);
    if (frame.stream === this.stage?.number && frame.kind === KIND.measured) this.takeMeasured(frame.numbers);
    if (frame.kind === KIND.plots) {
      this.series.add(this.run?.plots ?? [], frame.time, frame.numbers);
      this.sample++;
    }
    for (const listener of this.listeners) listener(frame);
  }

  private takeMeasured(numbers: Float32Array): void {
    const nBodies = (this.robot?.bodies.length ?? 0) * BODY_STRIDE;
    const positions = this.joints.map(
      (joint, i) => [joint.name, numbers[nBodies + i * JOINT_STRIDE]] as const,
    );
    const joints = positions.filter((one): one is [string, number] => Number.isFinite(one[1]));
    this.measured = { bodies: numbers.subarray(0, nBodies), joints: Object.fromEntries(joints) };
    clearTimeout(this.stale);
    this.stale = setTimeout(() => {
      this.measured = null;
    }, STALE);
  }

  private refuse(text: string): void {
    this.closing = true;
    this.connection = 'refused';
    this.refusal = text;
    this.socketOrNull?.close();
  }

  private lost(reason: string): void {
    this.socketOrNull = null;
    if (this.closing) return;
    this.connection = this.document ? 'lost' : 'connecting';
    if (reason !== '') this.notify('warning', t('connection.closed', { reason }));
    setTimeout(() => void this.connect(), RECONNECT);
  }
}

/** Whether a change leaves names and times as they are, by which poses are asked for. */
function movesJoints({ op }: Op): boolean {
  return op === 'pose.joints' || op === 'scene.joints';
}

const CONTEXT = Symbol('studio');

export function provideStudio(studio: Studio): void {
  setContext(CONTEXT, studio);
}

export function useStudio(): Studio {
  return getContext<Studio>(CONTEXT);
}

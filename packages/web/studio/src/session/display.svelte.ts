// What is shown: the pose that is edited, a motion at the playhead, its preview, or the running simulation.

import type { ClipReport, Evaluated, PoseRequest, PreviewReport } from '../wire/wire';
import { BODY_STRIDE, Clip, type Frame, GrowingClip, JOINT_STRIDE, KIND, readFrame } from './frames';
import { Latest } from './latest';
import type { Studio } from './studio.svelte';

/** Rows a second of what is drawn. [Hz] */
const RATE = 60;

/** Time after which a page that has no frame counts as not seen. [ms] */
const UNSEEN = 200;

/** A sampled motion with its rows. */
export interface Sampled {
  motion: string;
  report: ClipReport;
  clip: Clip;
}

/** A point of the balance overlay. */
export interface Balance {
  com: [number, number, number];
  zmp: [number, number] | null;
  polygon: [number, number][];
  /** Margin of the zero moment point where there is one, else of the centre of mass. [m] */
  margin: number | null;
  floor: number;
}

/** Simulated rows of the last preview. */
export interface Simulated {
  motion: string;
  /** Key of the preview; empty while it goes on. */
  key: string;
  clip: Clip;
}

export class Display {
  /** Pose that is edited, as the server placed it. */
  evaluated = $state.raw<Evaluated | null>(null);
  /** Joints of a pose that is not in the document. [rad or m] */
  free = $state.raw<{ [joint: string]: number }>({});
  sampled = $state.raw<Sampled | null>(null);
  simulated = $state.raw<Simulated | null>(null);
  /** Whether the playhead, and not the selection, says what is shown. */
  byTime = $state(false);
  /** Whether the playhead shows the preview's simulation in place of the motion as planned. */
  asSimulated = $state(false);
  /** Grows whenever there is something else to draw. */
  drawn = $state(0);

  /** Poses of all bodies of the stage: what is drawn. */
  bodies = new Float32Array(0);
  /** Positions of the robot's joints as shown, in the order of its description. [rad or m] */
  positions = $state.raw<number[]>([]);

  /** Time of the running simulation. [s] */
  runTime = $state(0);

  private readonly evaluating: Latest;
  private readonly sampling: Latest;
  private readonly fetching: Latest;
  private runRow: Float32Array | null = null;
  /** Whether the curves are of a drag. */
  private sampledDrag = false;
  /** Rows of the preview that goes on. */
  private arriving: { job: number; rows: GrowingClip } | null = null;

  constructor(private readonly studio: Studio) {
    this.evaluating = new Latest((error) => studio.complain(error));
    this.sampling = new Latest((error) => studio.complain(error));
    this.fetching = new Latest((error) => studio.complain(error));
  }

  /** Whether all that was asked for is shown. */
  get idle(): boolean {
    return this.evaluating.idle && this.sampling.idle && this.fetching.idle;
  }

  /** The clip that the playhead goes through. */
  readonly clip: Clip | null = $derived.by(() => {
    if (this.asSimulated && this.simulated?.motion === this.studio.motionName) return this.simulated.clip;
    return this.sampled?.motion === this.studio.motionName ? this.sampled.clip : null;
  });

  /** Balance of what is shown; a running simulation has none here. */
  readonly balance: Balance | null = $derived.by(() => {
    if (this.studio.running) return null;
    if (!this.byTime) return this.evaluated ? ofPose(this.evaluated) : null;
    return this.asSimulated ? null : this.sampled ? ofRow(this.sampled, this.studio.player.time) : null;
  });

  documentChanged(): void {
    this.evaluate();
    this.sampledDrag = false;
    this.sample();
  }

  /** Shows the document as a drag has it: the pose at once, curves at the drag's end unless they are what is shown. */
  dragged(): void {
    this.evaluate();
    if (!this.byTime && !this.sampledDrag) return;
    this.sampledDrag = this.byTime;
    this.sample();
  }

  selectionChanged(): void {
    this.byTime = false;
    const selection = this.studio.selection;
    if (selection.kind === 'scene') {
      const end =
        this.sampled?.motion === selection.motion
          ? this.sampled.report.scene_ends[selection.index]
          : undefined;
      if (end !== undefined) this.studio.player.time = end;
    }
    this.evaluate();
    if (this.sampled?.motion !== this.studio.motionName) this.sample();
  }

  motionChanged(): void {
    this.sample();
    this.evaluate();
  }

  timeMoved(): void {
    this.byTime = true;
    this.show();
  }

  runChanged(): void {
    if (!this.studio.running) this.runRow = null;
    this.show();
  }

  /** Rows of the present preview that are there. */
  get simulatedRows(): number {
    const preview = this.studio.preview;
    if (this.arriving) return this.arriving.job === preview?.job ? this.arriving.rows.nRows : 0;
    return this.simulated?.key === preview?.report?.key ? (this.simulated?.clip.nRows ?? 0) : 0;
  }

  /** Shows the motion as the preview simulated it, or as planned. */
  showSimulated(on: boolean): void {
    this.asSimulated = on;
    this.setDuration();
    this.timeMoved();
  }

  /** Takes up the result of a preview, or drops what came of one that has no result. */
  previewChanged(): void {
    const preview = this.studio.preview;
    if (!preview) return;
    const report = preview.report;
    if (report) {
      if (this.simulated?.key !== report.key) this.takePreview(preview.job, preview.motion, report);
    } else if (preview.cancelled || preview.error !== '') {
      this.arriving = null;
      if (this.simulated?.key === '') this.setSimulated(null);
    }
  }

  frame(frame: Frame): void {
    if (frame.kind === KIND.clip) this.addRows(frame);
    if (frame.kind !== KIND.state || !this.studio.running) return;
    this.runTime = frame.time;
    this.runRow = frame.numbers;
    this.show();
  }

  /** What the server is to place for the selection. */
  request(): PoseRequest {
    const selection = this.studio.selection;
    switch (selection.kind) {
      case 'pose':
        return { pose: selection.name, joints: {}, support: this.studio.poseSupport };
      case 'scene':
        return { motion: selection.motion, time: this.sceneEnd(selection), joints: {} };
      case 'free':
        return { joints: this.free, support: this.studio.poseSupport };
    }
  }

  /** Changes the pose that is not in the document. */
  setFree(joints: { [joint: string]: number }): void {
    this.free = { ...this.free, ...joints };
    this.byTime = false;
    this.evaluate();
  }

  /** Shows a pose that the server placed already. */
  showEvaluated(evaluated: Evaluated): void {
    this.evaluated = evaluated;
    this.byTime = false;
    this.show();
  }

  evaluate(): void {
    if (!this.studio.robot) {
      this.show();
      return;
    }
    this.evaluating.run(async () => {
      this.evaluated = await this.studio.socket.request<Evaluated>('evaluate', this.request());
      this.show();
    });
  }

  /** Waits until what was asked for is placed. */
  placed(): Promise<void> {
    return this.evaluating.settled();
  }

  private sample(): void {
    const motion = this.studio.motionName;
    if (motion === null || this.studio.motion === null) {
      this.sampled = null;
      this.setDuration();
      return;
    }
    this.sampling.run(async () => {
      // a pose goes before the curves, which would take the processor from its picture
      if (!this.byTime) await this.placed().then(drawn);
      const report = await this.studio.socket.request<ClipReport>('clip', { motion, rate: RATE });
      const known = this.sampled?.report.hash === report.hash ? this.sampled.clip : undefined;
      const clip = known ?? (await this.fetchClip(report.hash, report.dt, report.duration));
      this.sampled = { motion, report, clip };
      this.setDuration();
      if (this.byTime) this.show();
    });
  }

  /** Takes rows of the preview that goes on. */
  private addRows({ seq, time, numbers }: Frame): void {
    const { preview, stage } = this.studio;
    if (!preview || !stage || preview.report || preview.cancelled || preview.error !== '') return;
    if (this.arriving?.job !== preview.job) {
      this.arriving = { job: preview.job, rows: new GrowingClip(stage.n_bodies, stage.n_joints, time) };
    }
    const { rows } = this.arriving;
    if (rows.add(seq, numbers)) this.setSimulated({ motion: preview.motion, key: '', clip: rows.clip() });
  }

  /** Takes the rows of a preview that has ended: those that came, if they are all. */
  private takePreview(job: number, motion: string, report: PreviewReport): void {
    const rows = this.arriving?.job === job ? this.arriving.rows : null;
    this.arriving = null;
    if (rows?.nRows === report.n_rows) {
      this.setSimulated({ motion, key: report.key, clip: rows.clip() });
      return;
    }
    this.fetching.run(async () => {
      const clip = await this.fetchClip(report.clip, report.dt);
      this.setSimulated({ motion, key: report.key, clip });
    });
  }

  private setSimulated(simulated: Simulated | null): void {
    this.simulated = simulated;
    if (!this.asSimulated) return;
    this.setDuration();
    this.show();
  }

  /** Ends the playhead's way where the motion ends; as simulated it goes on for a while after that. */
  private setDuration(): void {
    const { player, motionName } = this.studio;
    const planned = this.sampled?.motion === motionName ? (this.sampled?.report.duration ?? 0) : 0;
    player.duration = Math.max(planned, this.asSimulated ? (this.clip?.duration ?? 0) : 0);
    player.time = Math.min(player.time, player.duration);
  }

  private async fetchClip(hash: string, dt: number, end?: number): Promise<Clip> {
    const stage = this.studio.stage;
    const response = await fetch(`/clip/${hash}`, {
      headers: { Authorization: `Bearer ${this.studio.token}` },
    });
    if (!response.ok) throw new Error(`/clip/${hash}: ${response.status} ${response.statusText}`);
    const frame = readFrame(await response.arrayBuffer());
    if (!frame) throw new Error(`/clip/${hash}: this page does not know the version of these rows`);
    return new Clip(frame.numbers, stage?.n_bodies ?? 0, stage?.n_joints ?? 0, dt, end);
  }

  private sceneEnd(selection: { motion: string; index: number }): number {
    const report = this.sampled?.motion === selection.motion ? this.sampled.report : undefined;
    const known = report?.scene_ends[selection.index];
    if (known !== undefined) return known;
    const scenes = this.studio.document?.motions[selection.motion]?.scenes ?? [];
    return scenes.slice(0, selection.index + 1).reduce((sum, scene) => sum + scene.time, 0);
  }

  /** Puts together what is drawn. */
  private show(): void {
    const stage = this.studio.stage;
    if (!stage) return;
    if (this.bodies.length !== stage.n_bodies * BODY_STRIDE)
      this.bodies = new Float32Array(stage.n_bodies * BODY_STRIDE);
    const nJoints = this.studio.joints.length;
    if (this.studio.running && this.runRow) {
      this.bodies.set(this.runRow.subarray(0, this.bodies.length));
      const joints = this.runRow.subarray(this.bodies.length);
      this.positions = Array.from({ length: nJoints }, (_, i) => joints[i * JOINT_STRIDE] ?? 0);
    } else if (this.byTime && this.clip) {
      const clip = this.clip;
      const time = this.studio.player.time;
      clip.sampleBodies(time, this.bodies);
      this.positions = Array.from({ length: nJoints }, (_, i) => clip.position(i, time));
    } else if (this.evaluated) {
      const evaluated = this.evaluated;
      const places = [...evaluated.bodies, ...stage.objects.map((object) => object.pose)];
      this.bodies.set(places.flat().slice(0, this.bodies.length));
      this.positions = this.studio.joints.map((joint) => evaluated.joints[joint.name] ?? 0);
    } else if (!this.studio.robot) {
      this.bodies.set(stage.objects.flatMap((object) => object.pose).slice(0, this.bodies.length));
    }
    this.drawn++;
  }
}

/** Waits until the next frame is drawn; of a page that nobody sees there is none. */
function drawn(): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, UNSEEN);
    requestAnimationFrame(() => setTimeout(done));
  });
}

function ofPose(evaluated: Evaluated): Balance {
  const { com, polygon, margin, floor } = evaluated;
  return { com, zmp: null, polygon, margin, floor };
}

function ofRow(sampled: Sampled, time: number): Balance | null {
  const { balance } = sampled.report;
  const row = sampled.clip.nearest(time);
  const com = balance.com[row];
  if (!com) return null;
  let polygon: [number, number][] = [];
  for (const [from, corners] of balance.polygons) {
    if (from > row) break;
    polygon = corners;
  }
  const margin = balance.margin[row] ?? balance.static_margin[row] ?? null;
  return { com, zmp: balance.zmp[row] ?? null, polygon, margin, floor: 0 };
}

// Everything that changes the document, in the user's words: each function is one step of undo.

import { t } from '../i18n/index.svelte';
import type {
  AngleUnit,
  Document,
  Ease,
  Exported,
  Imported,
  JointDescription,
  Mirror,
  Motion,
  Op,
  Pose,
  Saved,
  Scene,
  Support,
} from '../wire/wire';
import { Drag } from './drag';
import { mirrored, mirrorOfAxes, type Positions } from './mirror';
import type { Selection, Studio } from './studio.svelte';
import { scaledSwing } from './swing';
import { fromDocument, toDocument } from './units';

const EMPTY_SCENE: Scene = {
  pose: null,
  motion: null,
  mirror: false,
  repeat: 1,
  time: 0.5,
  ease: 'smooth',
  support: null,
  joints: {},
  root: null,
  note: '',
};

export class Edits {
  private drag: { drag: Drag; selection: Selection; free: Positions } | null = null;

  constructor(private readonly studio: Studio) {}

  /** Whether a drag goes on. */
  get dragging(): boolean {
    return this.drag !== null;
  }

  // Joints

  /** Sets joints of what is selected, with their mirror images where that is asked for, as one step. */
  async setJoints(positions: Positions, label: string): Promise<void> {
    const all = this.withImages(positions);
    if (this.studio.selection.kind === 'free') this.studio.display.setFree(all);
    else await this.studio.edit(this.jointOps(all), label);
  }

  /** Begins a drag of joints; `false` where one goes on, or nothing may be changed. */
  beginDrag(label: string): boolean {
    if (this.drag || !this.studio.mayEdit) return false;
    this.studio.player.pause();
    const selection = this.studio.selection;
    const free = this.studio.display.free;
    this.drag = {
      drag: new Drag(selection.kind === 'free' ? null : this.studio.socket, label),
      selection,
      free,
    };
    return true;
  }

  /** Shows joints during a drag. */
  dragJoints(positions: Positions): void {
    if (!this.drag) return;
    const all = this.withImages(positions);
    if (this.drag.selection.kind === 'free') this.studio.display.setFree(all);
    else this.drag.drag.update(this.jointOps(all));
  }

  /** Ends a drag as one step. */
  async endDrag(): Promise<void> {
    const drag = this.drag;
    this.drag = null;
    await this.guard(drag?.drag.commit());
  }

  /** Ends a drag and leaves everything as it was before. */
  async cancelDrag(): Promise<void> {
    const drag = this.drag;
    this.drag = null;
    if (drag?.selection.kind === 'free') {
      this.studio.display.free = drag.free;
      this.studio.display.evaluate();
    }
    await this.guard(drag?.drag.cancel());
  }

  /** Takes joints out of a scene or pose: they are again what lies below. */
  async releaseJoints(joints: string[]): Promise<void> {
    const selection = this.studio.selection;
    const none = Object.fromEntries(joints.map((joint) => [joint, null]));
    if (selection.kind === 'pose') {
      await this.studio.edit([{ op: 'pose.joints', name: selection.name, joints: none }], t('edit.release'));
    } else if (selection.kind === 'scene') {
      const { motion, index } = selection;
      await this.studio.edit([{ op: 'scene.joints', motion, index, joints: none }], t('edit.release'));
    }
  }

  // Poses

  /** Keeps joints, or what is shown, as a new pose and selects it. [rad or m] */
  async addPose(joints?: { [joint: string]: number }): Promise<void> {
    const document = this.studio.document;
    if (!document) return;
    const fresh = freshName('pose', Object.keys(document.poses));
    const pose: Pose = { from: null, root: null, joints: this.positionsOf(joints) };
    if (
      await this.studio.edit(
        [{ op: 'pose.put', name: fresh, pose, index: null }],
        t('edit.add_pose', { name: fresh }),
      )
    ) {
      this.studio.select({ kind: 'pose', name: fresh });
    }
  }

  async duplicatePose(name: string): Promise<void> {
    const document = this.studio.document;
    const pose = document?.poses[name];
    if (!document || !pose) return;
    const names = Object.keys(document.poses);
    const fresh = freshName(name, names);
    const op: Op = { op: 'pose.put', name: fresh, pose, index: names.indexOf(name) + 1 };
    if (await this.studio.edit([op], t('edit.duplicate', { name })))
      this.studio.select({ kind: 'pose', name: fresh });
  }

  async renamePose(name: string, to: string): Promise<void> {
    if (name === to || to === '') return;
    if (await this.studio.edit([{ op: 'pose.rename', name, to }], t('edit.rename', { name, to }))) {
      this.studio.select({ kind: 'pose', name: to });
    }
  }

  async removePose(name: string): Promise<void> {
    await this.studio.edit([{ op: 'pose.remove', name }], t('edit.remove', { name }));
  }

  async movePose(name: string, index: number): Promise<void> {
    await this.studio.edit([{ op: 'pose.move', name, index }], t('edit.move', { name }));
  }

  /** Exchanges left and right in what is selected. */
  async mirrorShown(): Promise<void> {
    const mirror = this.mirror();
    if (!mirror) return;
    const shown = Object.fromEntries(this.studio.joints.map((joint, i) => [joint.name, this.position(i)]));
    await this.setWithoutImages(mirrored(shown, mirror), t('edit.mirror'));
  }

  // Motions

  async addMotion(): Promise<void> {
    const document = this.studio.document;
    if (!document) return;
    const name = freshName('motion', Object.keys(document.motions));
    const poses = Object.keys(document.poses);
    const scenes = poses.length > 0 ? [{ ...EMPTY_SCENE, pose: poses[0] ?? null }] : [];
    const motion: Motion = {
      frame: 0.015,
      loop: false,
      start: { pose: poses[0] ?? null, support: 'both', root: { xyz: [0, 0, 0], rpy: [0, 0, 0] } },
      scenes,
      tracks: {},
      markers: [],
    };
    const op: Op = { op: 'motion.put', name, motion, index: null };
    if (await this.studio.edit([op], t('edit.add_motion', { name }))) this.studio.showMotion(name);
  }

  async duplicateMotion(name: string): Promise<void> {
    const document = this.studio.document;
    const motion = document?.motions[name];
    if (!document || !motion) return;
    const names = Object.keys(document.motions);
    const fresh = freshName(name, names);
    const op: Op = { op: 'motion.put', name: fresh, motion, index: names.indexOf(name) + 1 };
    if (await this.studio.edit([op], t('edit.duplicate', { name }))) this.studio.showMotion(fresh);
  }

  async renameMotion(name: string, to: string): Promise<void> {
    if (name === to || to === '') return;
    const shown = this.studio.motionName === name;
    if (
      (await this.studio.edit([{ op: 'motion.rename', name, to }], t('edit.rename', { name, to }))) &&
      shown
    ) {
      this.studio.showMotion(to);
    }
  }

  async removeMotion(name: string): Promise<void> {
    await this.studio.edit([{ op: 'motion.remove', name }], t('edit.remove', { name }));
  }

  async setLoop(motion: string, on: boolean): Promise<void> {
    const op: Op = { op: 'motion.set', motion, frame: null, loop: on, start: null };
    await this.studio.edit([op], t('edit.loop'));
  }

  // Scenes of a motion

  /** Inserts a scene and selects it; without a pose it shows the pose that is selected, or the first. */
  async insertScene(motion: string, index: number, scene: Partial<Scene> = {}): Promise<void> {
    const selection = this.studio.selection;
    const poses = Object.keys(this.studio.document?.poses ?? {});
    const pose = selection.kind === 'pose' ? selection.name : (poses[0] ?? null);
    const whole: Scene = { ...EMPTY_SCENE, pose: scene.motion ? null : pose, ...scene };
    if (await this.studio.edit([{ op: 'scene.insert', motion, index, scene: whole }], t('edit.add_scene'))) {
      this.studio.select({ kind: 'scene', motion, index });
    }
  }

  async putScene(motion: string, index: number, change: Partial<Scene>, label: string): Promise<void> {
    const scene = this.studio.document?.motions[motion]?.scenes[index];
    if (scene)
      await this.studio.edit([{ op: 'scene.put', motion, index, scene: { ...scene, ...change } }], label);
  }

  async setEase(motion: string, index: number, ease: Ease): Promise<void> {
    await this.putScene(motion, index, { ease }, t('edit.ease'));
  }

  async setSupport(motion: string, index: number, support: Support | null): Promise<void> {
    await this.studio.edit([{ op: 'support.set', motion, index, support }], t('edit.support'));
  }

  async removeScene(motion: string, index: number): Promise<void> {
    await this.studio.edit([{ op: 'scene.remove', motion, index }], t('edit.remove_scene'));
  }

  async duplicateScene(motion: string, index: number): Promise<void> {
    const scene = this.studio.document?.motions[motion]?.scenes[index];
    if (scene) await this.insertScene(motion, index + 1, scene);
  }

  async moveScene(motion: string, index: number, to: number): Promise<void> {
    const n = this.studio.document?.motions[motion]?.scenes.length ?? 0;
    if (to < 0 || to >= n || to === index) return;
    if (await this.studio.edit([{ op: 'scene.move', motion, index, to }], t('edit.move_scene'))) {
      this.studio.select({ kind: 'scene', motion, index: to });
    }
  }

  // Keys of single joints

  /** Adds a key for joints at a time, with the positions that they have there, or these. */
  async putKeys(motion: string, time: number, positions: Positions): Promise<void> {
    const ops = Object.entries(positions).map(([joint, position]): Op => {
      const key = { t: time, y: this.inDocument(joint, position), ease: 'smooth' as Ease };
      return { op: 'key.put', motion, joint, key };
    });
    await this.studio.edit(ops, t('edit.add_key'));
  }

  async moveKey(motion: string, joint: string, from: number, to: number): Promise<void> {
    if (Math.abs(from - to) < 1e-9) return;
    await this.studio.edit([{ op: 'key.move', motion, joint, t: from, to }], t('edit.move_key'));
  }

  async removeKey(motion: string, joint: string, time: number): Promise<void> {
    const track = this.studio.document?.motions[motion]?.tracks[joint];
    // A track without keys would stay as an empty entry of the file.
    const op: Op =
      track?.keys.length === 1
        ? { op: 'track.remove', motion, joint }
        : { op: 'key.remove', motion, joint, t: time };
    await this.studio.edit([op], t('edit.remove_key'));
  }

  /** Lets a joint swing so many times as far in a motion, with its mirror image where that is asked for. */
  async scaleSwing(motion: string, joint: string, factor: number): Promise<void> {
    const whole = this.studio.document?.motions[motion];
    if (!whole) return;
    const joints = Object.keys(this.withImages({ [joint]: 0 }));
    const within = (name: string, value: number) => {
      const description = this.studio.joints[this.studio.jointIndex.get(name) ?? -1];
      if (!description) return value;
      const unit = angleUnit(this.studio.document);
      return toDocument(description, unit, clamped(description, fromDocument(description, unit, value)));
    };
    await this.studio.edit(scaledSwing(motion, whole, joints, factor, within), t('edit.swing', { joint }));
  }

  // History and files

  async undo(): Promise<void> {
    // a run has changes of its own to take back
    if (this.studio.undoLabel !== null || this.studio.running) await this.studio.ask('undo');
  }

  async redo(): Promise<void> {
    if (this.studio.redoLabel !== null || this.studio.running) await this.studio.ask('redo');
  }

  async save(path?: string, force = false): Promise<Saved | undefined> {
    const saved = await this.studio.ask<Saved>('save', path === undefined ? { force } : { path, force });
    if (saved) this.studio.notify('info', t('file.saved', { path: saved.path }));
    return saved;
  }

  async importFile(name: string, bytes: Uint8Array, rate?: number): Promise<Imported | undefined> {
    const imported = await this.studio.ask<Imported>('import', { name, data: base64(bytes), rate });
    const first = imported?.motions[0];
    if (first !== undefined) this.studio.showMotion(first);
    return imported;
  }

  exportMotion(format: string, motion: string): Promise<Exported | undefined> {
    return this.studio.ask<Exported>('export', { format, motion });
  }

  /** The table by which joints mirror each other. */
  mirror(): Mirror | null {
    const { document, robot } = this.studio;
    return document?.mirror ?? (robot && mirrorOfAxes(robot));
  }

  private async setWithoutImages(positions: Positions, label: string): Promise<void> {
    if (this.studio.selection.kind === 'free') this.studio.display.setFree(positions);
    else await this.studio.edit(this.jointOps(positions), label);
  }

  private withImages(positions: Positions): Positions {
    const mirror = this.mirror();
    return this.studio.symmetric && mirror ? { ...mirrored(positions, mirror), ...positions } : positions;
  }

  private jointOps(positions: Positions): Op[] {
    const selection = this.studio.selection;
    const joints = Object.fromEntries(
      Object.entries(positions).map(([joint, position]) => [joint, this.inDocument(joint, position)]),
    );
    if (selection.kind === 'pose') return [{ op: 'pose.joints', name: selection.name, joints }];
    if (selection.kind === 'scene') {
      return [{ op: 'scene.joints', motion: selection.motion, index: selection.index, joints }];
    }
    return [];
  }

  /** Positions of all joints that lead, as the document has them: given ones within limits, else as shown. [rad or m] */
  private positionsOf(given: { [joint: string]: number } = {}): { [joint: string]: number } {
    const leaders = this.studio.joints.filter((joint) => joint.mimic === null);
    return Object.fromEntries(
      leaders.map((joint) => {
        const shown = this.position(this.studio.jointIndex.get(joint.name) ?? -1);
        const position = clamped(joint, given[joint.name] ?? shown);
        return [joint.name, toDocument(joint, angleUnit(this.studio.document), position)];
      }),
    );
  }

  private position(index: number): number {
    return this.studio.display.positions[index] ?? 0;
  }

  private inDocument(name: string, position: number): number {
    const joint = this.studio.joints[this.studio.jointIndex.get(name) ?? -1];
    return joint ? toDocument(joint, angleUnit(this.studio.document), position) : position;
  }

  private async guard(work: Promise<void> | undefined): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.studio.complain(error);
    }
  }
}

export function clamped(joint: JointDescription, position: number): number {
  return Math.min(Math.max(position, joint.lower ?? -Infinity), joint.upper ?? Infinity);
}

export function angleUnit(document: Document | null): AngleUnit {
  return document?.units.angle ?? 'rad';
}

/** `name`, or `name 2`, `name 3`, … where it is taken. */
export function freshName(name: string, taken: string[]): string {
  if (!taken.includes(name)) return name;
  const stem = name.replace(/_\d+$/, '');
  for (let n = 2; ; n++) if (!taken.includes(`${stem}_${n}`)) return `${stem}_${n}`;
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

// `window.__studio`: what tests may read. Nothing of it changes anything.

import { currentLanguage } from './i18n/index.svelte';
import type { Edits } from './session/edits.svelte';
import { bodyOf } from './session/parts';
import type { Reach } from './session/reach.svelte';
import type { Selection, Studio } from './session/studio.svelte';
import type { Picture } from './view/picture';
import type { Document, IkReport, LeaseState, LiveState, PreviewState, RunState } from './wire/wire';

export interface Hook {
  /** Whether the robot is drawn. */
  readonly ready: boolean;
  readonly rev: number;
  /** Whether every request is answered and everything is drawn; of a running simulation or robot the next frame is always to come. */
  readonly idle: boolean;
  readonly language: string;
  readonly hovered: string | null;
  readonly selection: Selection;
  readonly motion: string | null;
  readonly document: Document | null;
  readonly preview: PreviewState | null;
  /** Rows of the present preview that are there. */
  readonly simulatedRows: number;
  readonly run: RunState | null;
  readonly live: LiveState | null;
  /** Positions of the robot's joints as measured; `null` where they are not. [rad or m] */
  readonly measured: { [joint: string]: number } | null;
  readonly lease: LeaseState;
  readonly client: string;
  /** Frames that were drawn. */
  readonly frames: number;
  readonly inSoftware: boolean;
  readonly time: number;
  readonly playing: boolean;
  /** Margin of balance that is shown. [m] */
  readonly margin: number | null;
  /** Joint and position as shown. [rad or m] */
  pose(): { [joint: string]: number };
  /** Position of a joint of the motion at a time. [rad or m] */
  q(joint: string, time: number): number;
  /** Value of a parameter, as the simulation has it. */
  parameter(name: string): number | boolean | string | null;
  ik(): IkReport | null;
  /** Where a point of the world is in the window. [pixel] (2) */
  project(x: number, y: number, z: number): [number, number] | null;
  /** Where a handle is in the window. [pixel] (2) */
  handle(link: string): [number, number] | null;
  /** Where a handle's link is. [m] (3) */
  link(link: string): [number, number, number] | null;
  /** Name of what the pointer pulls. */
  readonly pulled: string | null;
  /** Cones that are drawn: half their opening. [rad] */
  readonly cones: number[];
  /** Contacts of the running simulation as drawn: size of each force. [N] */
  readonly forces: number[];
  /** Pose of a body as drawn, `x y z qx qy qz qw`. [m, -] (7) */
  body(name: string): number[] | null;
}

declare global {
  interface Window {
    __studio?: Hook;
  }
}

type Functions = {
  [K in keyof Hook as Hook[K] extends (...args: never[]) => unknown ? K : never]: Hook[K];
};
type Readers = { [K in Exclude<keyof Hook, keyof Functions>]: () => Hook[K] };

export function exposeHook(studio: Studio, edits: Edits, reach: Reach, picture: () => Picture | null): void {
  const { display } = studio;
  const drawn = () => picture()?.world;
  const readers: Readers = {
    ready: () =>
      (drawn()?.frames ?? 0) > 0 &&
      studio.connection === 'open' &&
      (display.evaluated !== null || studio.robot === null),
    rev: () => studio.rev,
    idle: () =>
      studio.pending === 0 &&
      display.idle &&
      reach.idle &&
      !edits.dragging &&
      (studio.run?.phase === 'running' || studio.measured !== null || (picture()?.idle ?? true)),
    language: currentLanguage,
    hovered: () => studio.hoveredJoint,
    selection: () => studio.selection,
    motion: () => studio.motionName,
    document: () => studio.document,
    preview: () => studio.preview,
    simulatedRows: () => display.simulatedRows,
    run: () => studio.run,
    live: () => studio.live,
    measured: () => studio.measured?.joints ?? null,
    lease: () => studio.lease,
    client: () => studio.client,
    frames: () => drawn()?.frames ?? 0,
    inSoftware: () => drawn()?.inSoftware ?? false,
    time: () => studio.player.time,
    playing: () => studio.player.playing,
    margin: () => display.balance?.margin ?? null,
    pulled: () => picture()?.pulled ?? null,
    cones: () => studio.cones.map((cone) => cone.angle),
    forces: () => picture()?.forcesShown() ?? [],
  };
  const functions: Functions = {
    pose: () =>
      Object.fromEntries(studio.joints.map((joint, i) => [joint.name, display.positions[i] ?? Number.NaN])),
    q: (joint, time) => display.clip?.position(studio.jointIndex.get(joint) ?? -1, time) ?? Number.NaN,
    parameter: (name) => studio.parameters.find((one) => one.name === name)?.value ?? null,
    ik: () => reach.report,
    project: (x, y, z) => drawn()?.project(x, y, z) ?? null,
    handle: (link) => picture()?.linkOnScreen(link) ?? null,
    link: (link) => picture()?.linkPosition(link) ?? null,
    body: (name) => {
      const index = studio.robot?.bodies.indexOf(name) ?? -1;
      const at = index < 0 ? bodyOf(studio.stage, name)?.body : index;
      return at === undefined ? null : Array.from(display.bodies.subarray(7 * at, 7 * at + 7));
    },
  };
  const getters = Object.entries(readers).map(([name, get]) => [name, { get, enumerable: true }]);
  const hook = Object.defineProperties({ ...functions }, Object.fromEntries(getters)) as Hook;
  window.__studio = Object.freeze(hook);
}

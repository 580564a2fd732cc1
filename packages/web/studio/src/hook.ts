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
  /** Whether every request is answered and everything is drawn. */
  readonly idle: boolean;
  readonly language: string;
  readonly hovered: string | null;
  readonly selection: Selection;
  readonly motion: string | null;
  readonly document: Document | null;
  readonly preview: PreviewState | null;
  readonly run: RunState | null;
  readonly live: LiveState | null;
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

export function exposeHook(studio: Studio, edits: Edits, reach: Reach, picture: () => Picture | null): void {
  const { display } = studio;
  const hook: Hook = {
    get ready() {
      return (
        (picture()?.world.frames ?? 0) > 0 &&
        studio.connection === 'open' &&
        (display.evaluated !== null || studio.robot === null)
      );
    },
    get rev() {
      return studio.rev;
    },
    get idle() {
      return (
        studio.pending === 0 &&
        display.idle &&
        reach.idle &&
        !edits.dragging &&
        (picture()?.world.idle ?? true)
      );
    },
    get language() {
      return currentLanguage();
    },
    get hovered() {
      return studio.hoveredJoint;
    },
    get selection() {
      return studio.selection;
    },
    get motion() {
      return studio.motionName;
    },
    get document() {
      return studio.document;
    },
    get preview() {
      return studio.preview;
    },
    get run() {
      return studio.run;
    },
    get live() {
      return studio.live;
    },
    get lease() {
      return studio.lease;
    },
    get client() {
      return studio.client;
    },
    get frames() {
      return picture()?.world.frames ?? 0;
    },
    get inSoftware() {
      return picture()?.world.inSoftware ?? false;
    },
    get time() {
      return studio.player.time;
    },
    get playing() {
      return studio.player.playing;
    },
    get margin() {
      return display.balance?.margin ?? null;
    },
    get pulled() {
      return picture()?.pulled ?? null;
    },
    get cones() {
      return studio.cones.map((cone) => cone.angle);
    },
    get forces() {
      return picture()?.forcesShown() ?? [];
    },
    pose: () =>
      Object.fromEntries(studio.joints.map((joint, i) => [joint.name, display.positions[i] ?? Number.NaN])),
    q: (joint, time) => display.clip?.position(studio.jointIndex.get(joint) ?? -1, time) ?? Number.NaN,
    parameter: (name) => studio.parameters.find((one) => one.name === name)?.value ?? null,
    ik: () => reach.report,
    project: (x, y, z) => picture()?.world.project(x, y, z) ?? null,
    handle: (link) => picture()?.linkOnScreen(link) ?? null,
    link: (link) => picture()?.linkPosition(link) ?? null,
    body: (name) => {
      const index = studio.robot?.bodies.indexOf(name) ?? -1;
      const at = index < 0 ? bodyOf(studio.stage, name)?.body : index;
      return at === undefined ? null : Array.from(display.bodies.subarray(7 * at, 7 * at + 7));
    },
  };
  window.__studio = Object.freeze(hook);
}

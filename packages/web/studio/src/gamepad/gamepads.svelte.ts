// A gamepad moves what is edited as long as an input is held: joints, all joints to a pose, or a link by its handle.

import { t } from '../i18n/index.svelte';
import { angleUnit, clamped, type Edits } from '../session/edits.svelte';
import type { Positions } from '../session/mirror';
import type { Place } from '../session/place';
import type { Reach } from '../session/reach.svelte';
import type { Studio } from '../session/studio.svelte';
import { fromDocument } from '../session/units';
import type { GamepadBinding, JointDescription, LiveState } from '../wire/wire';
import { deflected, deflection, firstGamepad, type Inputs, inputsOf, NO_INPUTS } from './inputs';

/** Longest time between two looks that counts: after a pause nothing jumps. [s] */
const LONGEST = 0.1;
/** Speeds at full deflection where the mapping says nothing. [rad/s, m/s, parts of the way a second] */
const TURN = Math.PI / 3;
const SLIDE = 0.05;
const BLEND = 1;

/** Where a link is, for its handle. [m] (3) */
type LinkPosition = (link: string) => [number, number, number] | null;

/** What goes on while inputs are held. */
type Movement =
  | { kind: 'link'; link: string; at: [number, number, number] }
  | { kind: 'joints'; positions: Positions; changed: Set<string>; left: Map<string, number> };

export class Gamepads {
  /** The gamepad that is there, by its own name. */
  name = $state<string | null>(null);
  inputs = $state.raw<Inputs>(NO_INPUTS);
  /** The input that was moved last. */
  last = $state.raw<Pick<GamepadBinding, 'axis' | 'button'> | null>(null);
  private movement: Movement | null = null;
  private pressed = new Set<number>();
  private asked = 0;
  private lookedAt = 0;

  constructor(
    private readonly studio: Studio,
    private readonly edits: Edits,
    private readonly reach: Reach,
    private readonly linkPosition: LinkPosition,
  ) {}

  /** Follows gamepads that come and go; returns what ends that. */
  watch(): () => void {
    const begin = () => {
      if (this.asked === 0) this.asked = requestAnimationFrame(this.look);
    };
    const hide = () => document.hidden && this.release();
    addEventListener('gamepadconnected', begin);
    document.addEventListener('visibilitychange', hide);
    if (firstGamepad()) begin();
    return () => {
      removeEventListener('gamepadconnected', begin);
      document.removeEventListener('visibilitychange', hide);
      cancelAnimationFrame(this.asked);
      this.release();
    };
  }

  get bindings(): GamepadBinding[] {
    return this.studio.document?.gamepad ?? [];
  }

  private readonly look = (now: number): void => {
    const pad = firstGamepad();
    this.name = pad?.id ?? null;
    const inputs = pad ? inputsOf(pad) : NO_INPUTS;
    if (JSON.stringify(inputs) !== JSON.stringify(this.inputs)) this.inputs = inputs;
    this.last = deflected(inputs) ?? this.last;
    this.act(inputs);
    this.move(inputs, Math.min((now - this.lookedAt) / 1000, LONGEST));
    this.lookedAt = now;
    // nobody asks for gamepads that are not there
    this.asked = pad ? requestAnimationFrame(this.look) : 0;
  };

  /** Does what buttons do once, when they are pressed. */
  private act(inputs: Inputs): void {
    this.bindings.forEach((binding, i) => {
      const down = binding.action !== undefined && deflection(binding, inputs) !== 0;
      if (down && !this.pressed.has(i)) this.press(binding);
      if (down) this.pressed.add(i);
      else this.pressed.delete(i);
    });
  }

  private press({ action }: GamepadBinding): void {
    const { studio } = this;
    if (action === 'play') studio.player.toggle();
    else if (action === 'preview') studio.startPreview();
    else if (action === 'stop') {
      this.release();
      studio.player.pause();
      if (studio.live && studio.live.mode !== 'absent') void this.stopRobot();
      if (studio.running && studio.mayEdit) void studio.ask('stop');
    }
  }

  private async stopRobot(): Promise<void> {
    const state = await this.studio.ask<LiveState>('live.stop');
    if (state) this.studio.live = state;
  }

  /** Moves by what is held for a time [s]; ends when nothing is. */
  private move(inputs: Inputs, time: number): void {
    const held = this.bindings.filter((one) => one.action === undefined && deflection(one, inputs) !== 0);
    // a page that is hidden is looked at seldom: what moved would not stop in time
    if (held.length === 0 || this.studio.running || document.hidden) {
      this.release();
      return;
    }
    this.movement ??= this.begin(held);
    if (this.movement?.kind === 'link') this.moveLink(this.movement, held, inputs, time);
    else if (this.movement) this.moveJoints(this.movement, held, inputs, time);
  }

  /** A link moves alone; joints and poses move together. */
  private begin(held: GamepadBinding[]): Movement | null {
    if (!held.some((binding) => binding.joint !== undefined || binding.pose !== undefined)) {
      const link = held[0]?.link ?? '';
      const at = this.linkPosition(link);
      if (!at || this.edits.dragging) return null;
      this.reach.choose(link);
      this.reach.mode = 'translate';
      return this.reach.begin() ? { kind: 'link', link, at } : null;
    }
    if (!this.edits.beginDrag(t('edit.gamepad'))) return null;
    const positions = Object.fromEntries(
      this.studio.joints.map((joint, i) => [joint.name, this.studio.display.positions[i] ?? 0]),
    );
    return { kind: 'joints', positions, changed: new Set(), left: new Map() };
  }

  private release(): void {
    const movement = this.movement;
    this.movement = null;
    if (movement?.kind === 'link') void this.reach.end();
    else if (movement) void this.edits.endDrag();
  }

  private moveLink(
    movement: Movement & { kind: 'link' },
    held: GamepadBinding[],
    inputs: Inputs,
    time: number,
  ): void {
    // a target beyond reach does not run away: the way back begins where the link is
    if (this.reach.report?.reached === false) movement.at = this.linkPosition(movement.link) ?? movement.at;
    for (const binding of held.filter((one) => one.link === movement.link)) {
      const way = deflection(binding, inputs) * (binding.speed ?? SLIDE) * time;
      movement.at = movement.at.map((x, i) => x + way * (binding.direction?.[i] ?? 0)) as [
        number,
        number,
        number,
      ];
    }
    this.reach.move([...movement.at, 0, 0, 0, 1] as Place);
  }

  private moveJoints(
    movement: Movement & { kind: 'joints' },
    held: GamepadBinding[],
    inputs: Inputs,
    time: number,
  ): void {
    for (const binding of held) {
      const by = deflection(binding, inputs) * time;
      if (binding.joint !== undefined) this.turn(movement, binding.joint, by, binding.speed);
      else if (binding.pose !== undefined) this.blend(movement, binding.pose, by * (binding.speed ?? BLEND));
    }
    const held_poses = new Set(held.map((binding) => binding.pose));
    for (const pose of movement.left.keys()) if (!held_poses.has(pose)) movement.left.delete(pose);
    const { positions, changed } = movement;
    this.edits.dragJoints(Object.fromEntries([...changed].map((name) => [name, positions[name] ?? 0])));
  }

  private turn(movement: Movement & { kind: 'joints' }, name: string, by: number, speed?: number): void {
    const joint = this.joint(name);
    if (!joint) return;
    const usual = joint.unit === 'rad' ? TURN : SLIDE;
    const own = speed === undefined ? usual : this.onWire(joint, speed);
    this.put(movement, joint, (movement.positions[name] ?? 0) + by * own);
  }

  /** Goes a part of the way to a pose. */
  private blend(movement: Movement & { kind: 'joints' }, pose: string, part: number): void {
    const left = movement.left.get(pose) ?? 1;
    const next = Math.max(left - Math.abs(part), 0);
    movement.left.set(pose, next);
    for (const [name, value] of Object.entries(this.joinedPose(pose))) {
      const joint = this.joint(name);
      if (!joint) continue;
      const goal = this.onWire(joint, value);
      const rest = left > 0 ? next / left : 0;
      this.put(movement, joint, goal + ((movement.positions[name] ?? 0) - goal) * rest);
    }
  }

  private put(
    { positions, changed }: Movement & { kind: 'joints' },
    joint: JointDescription,
    q: number,
  ): void {
    positions[joint.name] = clamped(joint, q);
    changed.add(joint.name);
  }

  private joint(name: string): JointDescription | undefined {
    return this.studio.joints.find((one) => one.name === name && one.mimic === null);
  }

  private onWire(joint: JointDescription, value: number): number {
    return fromDocument(joint, angleUnit(this.studio.document), value);
  }

  /** Joints of a pose with those of the poses that it is made from, in the document's unit. */
  private joinedPose(name: string): Positions {
    const poses = this.studio.document?.poses ?? {};
    const layers: Positions[] = [];
    for (let pose = poses[name]; pose; pose = poses[pose.from ?? '']) layers.unshift(pose.joints);
    return Object.assign({}, ...layers);
  }
}

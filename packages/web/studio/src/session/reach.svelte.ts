// Handles of links: where one is dragged, the server's inverse kinematics makes the joints follow.

import { t } from '../i18n/index.svelte';
import type { Evaluated, IkGoal, IkReport, LinkDescription, Support } from '../wire/wire';
import type { Edits } from './edits.svelte';
import { Latest } from './latest';
import type { Place } from './place';
import type { Studio } from './studio.svelte';

/** Change of a joint below which a solution leaves it alone. [rad or m] */
const STILL = 1e-7;
/** Name of the handle of the centre of mass: names of links have no slash. */
export const COM = 'robot/com';
const COM_HANDLE: LinkDescription = { name: COM, body: null, pose: [0, 0, 0, 0, 0, 0, 1], is_tip: false };

export type Reached = 'reached' | 'limited' | 'missed';

export class Reach {
  /** Link whose handle is shown. */
  link = $state<string | null>(null);
  mode = $state<'translate' | 'rotate'>('translate');
  /** Whether the robot's root moves along while the feet stay. */
  wholeBody = $state(false);
  report = $state.raw<IkReport | null>(null);
  /** Whether a drag goes on. */
  dragging = $state(false);

  private start: { [joint: string]: number } = {};
  /** Orientation of the root when the drag began. [-] (4) */
  private upright: [number, number, number, number] = [0, 0, 0, 1];
  private solution: { [joint: string]: number } | null = null;
  private readonly solving: Latest;

  constructor(
    private readonly studio: Studio,
    private readonly edits: Edits,
  ) {
    this.solving = new Latest((error) => studio.complain(error));
  }

  /** Whether the last target is solved. */
  get idle(): boolean {
    return this.solving.idle;
  }

  /** Links that have a handle: hands, feet, head and the root; and the centre of mass of a robot that stands by itself. */
  readonly handles: LinkDescription[] = $derived.by(() => {
    const robot = this.studio.robot;
    if (!robot) return [];
    const links = robot.links.filter(
      (link) => link.body !== null && ((link.is_tip && link.body !== 0) || this.isRoot(link)),
    );
    return robot.floating ? [...links, COM_HANDLE] : links;
  });

  /** Whether the handle can be turned. */
  readonly turns: boolean = $derived(this.link !== COM && this.mode === 'rotate');

  /** How well the last target was reached. */
  readonly reached: Reached | null = $derived.by(() => {
    const report = this.report;
    if (!report) return null;
    if (report.reached) return 'reached';
    return report.obstacle === 'Limit' ? 'limited' : 'missed';
  });

  choose(link: string | null): void {
    this.link = link;
    this.report = null;
  }

  begin(): boolean {
    if (!this.link) return false;
    const label = this.link === COM ? t('edit.centre') : t('edit.reach', { link: this.link });
    if (!this.edits.beginDrag(label)) return false;
    this.dragging = true;
    this.solution = null;
    this.start = Object.fromEntries(
      this.studio.joints.map((joint, i) => [joint.name, this.studio.display.positions[i] ?? 0]),
    );
    this.upright = orientation(this.studio.display.evaluated);
    return true;
  }

  /** Moves the target of the handle: its position [m], and its orientation where that is dragged. */
  move(place: Place): void {
    const link = this.handles.find((one) => one.name === this.link);
    if (!link || !this.dragging) return;
    if (link.name === COM) {
      this.solving.run(() => this.balance([place[0], place[1]]));
      return;
    }
    const target = {
      link: link.name,
      position: place.slice(0, 3) as [number, number, number],
      level: false,
      orientation: this.turns ? (place.slice(3) as [number, number, number, number]) : null,
    };
    this.solving.run(() => this.solve({ targets: [target], ...this.frame(link) }));
  }

  async end(): Promise<void> {
    if (!this.dragging) return;
    await this.settle();
    this.dragging = false;
    await this.edits.endDrag();
  }

  async cancel(): Promise<void> {
    if (!this.dragging) return;
    this.dragging = false;
    await this.settle();
    this.report = null;
    await this.edits.cancelDrag();
  }

  /** Brings the handle's link to a place, as one step. */
  async place(place: Place): Promise<void> {
    if (!this.begin()) return;
    this.move(place);
    await this.end();
  }

  /** Moves the body until the centre of mass is over the middle of a foot, or between both. */
  async centre(over: Exclude<Support, 'auto' | 'none'>): Promise<void> {
    const start = this.studio.display.request();
    try {
      const standing = await this.studio.socket.request<Evaluated>('evaluate', { ...start, support: over });
      const com = middle(standing.polygon);
      if (!com || !this.edits.beginDrag(t('edit.centre'))) return;
      this.dragging = true;
      this.solution = null;
      this.start = standing.joints;
      this.upright = orientation(standing);
      this.solving.run(() => this.balance(com, { ...start, support: over }));
      await this.end();
    } catch (error) {
      this.studio.complain(error);
    }
  }

  private isRoot(link: LinkDescription): boolean {
    return link.body === 0 && link.name === this.studio.robot?.bodies[0];
  }

  /** What stays and what moves along with a link. */
  private frame(link: LinkDescription): Partial<IkGoal> {
    const feet = this.studio.robot?.feet ?? [];
    const root = this.isRoot(link);
    const moves = (this.studio.robot?.floating ?? false) && (root || this.wholeBody);
    return { root_moves: moves, held: moves ? feet.filter((foot) => foot !== link.name) : [] };
  }

  private async solve(goal: Partial<IkGoal>): Promise<void> {
    const request = this.studio.display.request();
    const start = goal.start ?? { ...request, joints: { ...request.joints, ...this.solution } };
    const report = await this.studio.socket.request<IkReport>('ik', {
      targets: [],
      locked: [...this.studio.locked],
      ...goal,
      start,
    });
    this.report = report;
    if (!this.dragging) return;
    this.solution = report.pose.joints;
    const changed = Object.fromEntries(
      this.studio.joints
        .filter((joint) => joint.mimic === null)
        .map((joint) => [joint.name, report.pose.joints[joint.name] ?? 0] as const)
        .filter(([name, position]) => Math.abs(position - (this.start[name] ?? 0)) > STILL),
    );
    this.edits.dragJoints(changed);
    this.studio.display.showEvaluated(report.pose);
  }

  /** Brings the centre of mass above a point of the floor [m]: the feet stay, and the root upright as far as that leads there. */
  private async balance(com: [number, number], start = this.studio.display.request()): Promise<void> {
    const robot = this.studio.robot;
    const root = robot?.bodies[0];
    if (!robot || root === undefined) return;
    const next = () => ({ ...start, joints: { ...start.joints, ...this.solution } });
    const goal = { com, held: robot.feet, root_moves: true };
    const target = { link: root, position: null, orientation: this.upright, level: false };
    await this.solve({ ...goal, targets: [target], start: next() });
    // hips that roll little need it to lean
    if (this.report?.reached === false) await this.solve({ ...goal, start: next() });
  }

  private async settle(): Promise<void> {
    await this.solving.settled();
  }
}

function orientation(shown: Evaluated | null): [number, number, number, number] {
  const [, , , x, y, z, w] = shown?.root ?? [0, 0, 0, 0, 0, 0, 1];
  return [x, y, z, w];
}

function middle(polygon: [number, number][]): [number, number] | null {
  if (polygon.length < 3) return null;
  let area = 0;
  let x = 0;
  let y = 0;
  polygon.forEach(([ax, ay], i) => {
    const [bx, by] = polygon[(i + 1) % polygon.length] ?? [ax, ay];
    const cross = ax * by - bx * ay;
    area += cross;
    x += (ax + bx) * cross;
    y += (ay + by) * cross;
  });
  return Math.abs(area) < 1e-12 ? null : [x / (3 * area), y / (3 * area)];
}

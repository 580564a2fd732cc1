// Handles of links: where one is dragged, the server's inverse kinematics makes the joints follow.

import { t } from '../i18n/index.svelte';
import type { Evaluated, IkGoal, IkReport, LinkDescription, Support } from '../wire/wire';
import type { Edits } from './edits.svelte';
import { Latest } from './latest';
import type { Place } from './place';
import type { Studio } from './studio.svelte';

/** Change of a joint below which a solution leaves it alone. [rad or m] */
const STILL = 1e-7;
/** Distance at which the centre of mass is where it should be. [m] */
const CENTRED = 2e-4;
const MOST_SHIFTS = 8;

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

  /** Links that have a handle: hands, feet, head and the root. */
  readonly handles: LinkDescription[] = $derived.by(() => {
    const robot = this.studio.robot;
    if (!robot) return [];
    return robot.links.filter(
      (link) => link.body !== null && ((link.is_tip && link.body !== 0) || this.isRoot(link)),
    );
  });

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
    if (!this.link || !this.edits.beginDrag(t('edit.reach', { link: this.link }))) return false;
    this.dragging = true;
    this.solution = null;
    this.start = Object.fromEntries(
      this.studio.joints.map((joint, i) => [joint.name, this.studio.display.positions[i] ?? 0]),
    );
    return true;
  }

  /** Moves the target of the handle: its position [m], and its orientation where that is dragged. */
  move(place: Place): void {
    const link = this.handles.find((one) => one.name === this.link);
    if (!link || !this.dragging) return;
    const turns = this.mode === 'rotate';
    const target = {
      link: link.name,
      position: place.slice(0, 3) as [number, number, number],
      level: false,
      orientation: turns ? (place.slice(3) as [number, number, number, number]) : null,
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
    const feet = this.studio.robot?.feet ?? [];
    const start = this.studio.display.request();
    try {
      const standing = await this.studio.socket.request<Evaluated>('evaluate', { ...start, support: over });
      const com = middle(standing.polygon);
      if (!com || !this.edits.beginDrag(t('edit.centre'))) return;
      this.dragging = true;
      this.solution = null;
      this.start = standing.joints;
      this.solving.run(() => this.shift(standing, com, { ...start, support: over }, feet));
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

  /** Moves the root, step by step, by what the centre of mass lacks; the feet stay. */
  private async shift(
    standing: Evaluated,
    com: [number, number],
    start: IkGoal['start'],
    held: string[],
  ): Promise<void> {
    const link = this.studio.robot?.bodies[0];
    if (link === undefined) return;
    let pose = standing;
    for (let step = 0; step < MOST_SHIFTS; step++) {
      const [dx, dy] = [com[0] - pose.com[0], com[1] - pose.com[1]];
      if (Math.hypot(dx, dy) < CENTRED) return;
      const [x, y, z, ...upright] = pose.root;
      // upright as long as that leads anywhere, then leaning: hips that roll little need it
      const orientation = step < MOST_SHIFTS / 2 ? upright : null;
      const target = {
        link,
        position: [x + dx, y + dy, z] as [number, number, number],
        orientation,
        level: false,
      };
      await this.solve({
        start: { ...start, joints: { ...start.joints, ...this.solution } },
        targets: [target as IkGoal['targets'][number]],
        held,
        root_moves: true,
      });
      if (!this.report) return;
      pose = this.report.pose;
    }
  }

  private async settle(): Promise<void> {
    await this.solving.settled();
  }
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

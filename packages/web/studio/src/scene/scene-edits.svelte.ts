// Changes of the scene around the robot; each is one step of undo.

import { t } from '../i18n/index.svelte';
import { Drag } from '../session/drag';
import { freshName } from '../session/edits.svelte';
import type { Place } from '../session/place';
import type { Studio } from '../session/studio.svelte';
import { tidy } from '../session/units';
import type { EntryList, Op } from '../wire/wire';
import {
  bushingKey,
  type Chosen,
  connectionsOf,
  type Entry,
  type EntryKind,
  entriesOf,
  inBody,
  inWorld,
  NEW_SHAPES,
  type ShapeName,
  withValue,
} from './entries';

export class SceneEdits {
  chosen = $state.raw<Chosen | null>(null);
  private drag: Drag | null = null;

  constructor(private readonly studio: Studio) {}

  /** The entry that is chosen. */
  readonly entry: Entry | null = $derived.by(() => {
    const chosen = this.chosen;
    return chosen ? (entriesOf(this.studio.document?.scene, chosen.list)[chosen.name] ?? null) : null;
  });

  /** Body of the scene that is chosen. */
  readonly body: string | null = $derived(
    this.entry && this.chosen?.list === 'bodies' ? this.chosen.name : null,
  );

  /** Adds a body beside the robot. */
  async addBody(shape: ShapeName): Promise<void> {
    const { mass, height, shape: form } = NEW_SHAPES[shape];
    const n = Object.keys(entriesOf(this.studio.document?.scene, 'bodies')).length;
    const pose = { xyz: [0.2, tidy(0.12 * (n % 5)), height], rpy: [0, 0, 0] };
    await this.add('bodies', shape, { shape: form, mass, pose });
  }

  /** Hinges the chosen body to the world, about a vertical axis through it. */
  async addHinge(): Promise<void> {
    const body = this.body;
    const entry = this.entry;
    if (body === null || !entry) return;
    const xyz = (entry.pose as Entry | undefined)?.xyz ?? [0, 0, 0];
    await this.add('joints', `${body}_hinge`, {
      a: 'world',
      b: body,
      type: 'hinge',
      axis: [0, 0, 1],
      pose: { xyz },
    });
  }

  /** Hangs the chosen body on a spring, above it. */
  async addSpring(): Promise<void> {
    const body = this.body;
    const entry = this.entry;
    if (body === null || !entry) return;
    const [x, y, z] = ((entry.pose as Entry | undefined)?.xyz ?? [0, 0, 0]) as [number, number, number];
    await this.add('springs', `${body}_spring`, {
      a: { part: 'world', point: [x, y, tidy(z + 0.2)] },
      b: { part: body, point: [0, 0, 0] },
      stiffness: 50,
      damping: 0.5,
      rest_length: 0.2,
    });
  }

  async put(path: string, value: unknown): Promise<void> {
    const chosen = this.chosen;
    const entry = this.entry;
    if (!chosen || !entry) return;
    await this.studio.edit(
      [this.putOp(chosen, withValue(entry, path, value))],
      t('edit.body', { name: chosen.name }),
    );
  }

  /** Sets the type of the chosen joint; only hinges and sliders have an axis. */
  async setType(type: string): Promise<void> {
    const chosen = this.chosen;
    if (!chosen || !this.entry) return;
    const { axis, ...rest } = this.entry;
    const turns = type === 'hinge' || type === 'slider';
    const entry = turns ? { ...rest, axis: axis ?? [0, 0, 1], type } : { ...rest, type };
    await this.studio.edit([this.putOp(chosen, entry)], t('edit.body', { name: chosen.name }));
  }

  /** Gives an end of the chosen joint or spring to another thing; its place in the world stays. */
  async setEnd(end: 'a' | 'b', part: string): Promise<void> {
    const chosen = this.chosen;
    const entry = this.entry;
    if (!chosen || !entry) return;
    const scene = this.studio.document?.scene;
    let next: Entry;
    if (chosen.list === 'springs') {
      const before = (entry[end] ?? {}) as Entry;
      const point = inBody(scene, part, inWorld(scene, String(before.part), before.point));
      next = { ...entry, [end]: { part, point } };
    } else if (end === 'a') {
      const pose = (entry.pose ?? {}) as Entry;
      const xyz = inBody(scene, part, inWorld(scene, String(entry.a), pose.xyz));
      next = { ...entry, a: part, pose: { ...pose, xyz } };
    } else next = { ...entry, b: part };
    await this.studio.edit([this.putOp(chosen, next)], t('edit.body', { name: chosen.name }));
  }

  /** Sets the stiffness or damping of what the chosen joint leaves free, the same along all axes. */
  async putBushing(what: 'stiffness' | 'damping', value: number): Promise<void> {
    if (this.entry) await this.put(`bushing.${bushingKey(this.entry, what)}`, [value, value, value]);
  }

  async rename(to: string): Promise<void> {
    const chosen = this.chosen;
    if (!chosen || !this.entry || to === chosen.name || to === '') return;
    const scene = this.studio.document?.scene;
    // what names the body names it by its new name
    const connections = chosen.list === 'bodies' ? connectionsOf(scene, chosen.name) : [];
    const ops: Op[] = [this.putOp({ ...chosen, name: to }, this.entry)];
    for (const connection of connections) {
      const entry = entriesOf(scene, connection.list)[connection.name] ?? {};
      ops.push(this.putOp(connection, renamed(entry, chosen.name, to)));
    }
    ops.push({ op: 'entry.remove', list: chosen.list, name: chosen.name, alone: true });
    if (await this.studio.edit(ops, t('edit.rename', { name: chosen.name, to })))
      this.chosen = { ...chosen, name: to };
  }

  async duplicate(): Promise<void> {
    const chosen = this.chosen;
    if (!chosen || !this.entry) return;
    const xyz = ((this.entry.pose as Entry | undefined)?.xyz ?? [0, 0, 0]) as number[];
    const beside =
      chosen.list === 'bodies' ? withValue(this.entry, 'pose.xyz.1', tidy((xyz[1] ?? 0) + 0.12)) : this.entry;
    await this.add(chosen.list, chosen.name, beside);
  }

  async remove(): Promise<void> {
    const chosen = this.chosen;
    if (!chosen) return;
    const also = chosen.list === 'bodies' ? connectionsOf(this.studio.document?.scene, chosen.name) : [];
    const op: Op = { op: 'entry.remove', list: chosen.list, name: chosen.name, alone: false };
    if (!(await this.studio.edit([op], t('edit.remove', { name: chosen.name })))) return;
    this.chosen = null;
    if (also.length > 0) {
      this.studio.notify(
        'info',
        t('scene.removed_with', { name: chosen.name, others: also.map((one) => one.name).join(', ') }),
      );
    }
  }

  /** Begins to move the chosen body. */
  begin(): boolean {
    const body = this.body;
    if (this.drag || body === null || !this.studio.mayEdit) return false;
    this.drag = new Drag(this.studio.socket, t('edit.move', { name: body }));
    return true;
  }

  move(place: Place): void {
    const chosen = this.chosen;
    if (!this.drag || !chosen || !this.entry) return;
    const xyz = place.slice(0, 3).map((x) => tidy(Number(x.toFixed(4))));
    this.drag.update([
      this.putOp(chosen, withValue(this.entry, 'pose', { ...(this.entry.pose as Entry), xyz })),
    ]);
  }

  async end(): Promise<void> {
    const drag = this.drag;
    this.drag = null;
    await drag?.commit().catch((error: unknown) => this.studio.complain(error));
  }

  async cancel(): Promise<void> {
    const drag = this.drag;
    this.drag = null;
    await drag?.cancel().catch((error: unknown) => this.studio.complain(error));
  }

  get dragging(): boolean {
    return this.drag !== null;
  }

  private async add(list: EntryKind, name: string, entry: Entry): Promise<void> {
    const scene = this.studio.document?.scene;
    const taken = (['bodies', 'joints', 'springs'] as const).flatMap((one) =>
      Object.keys(entriesOf(scene, one)),
    );
    const fresh = freshName(name, taken);
    if (await this.studio.edit([this.putOp({ list, name: fresh }, entry)], t('edit.add', { name: fresh }))) {
      this.chosen = { list, name: fresh };
    }
  }

  private putOp({ list, name }: Chosen, entry: Entry): Op {
    return { op: 'entry.put', list: list as EntryList, name, entry, index: null };
  }
}

function renamed(entry: Entry, from: string, to: string): Entry {
  const end = (one: unknown) => {
    if (one === from) return to;
    if (typeof one === 'object' && one !== null && (one as Entry).part === from) return { ...one, part: to };
    return one;
  };
  return { ...entry, a: end(entry.a), b: end(entry.b) };
}

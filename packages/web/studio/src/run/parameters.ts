// Parameters of a simulation in groups, by the dots of their names.

import type { Parameter } from '../wire/wire';

export interface Group {
  /** `drives`, `joints`, a body's name. */
  name: string;
  parameters: Parameter[];
  /** Last words of names that several have: all of them can be scaled at once. */
  kinds: string[];
}

/** Last word of a name: `stiffness` of `khr1.drives.l_knee_pitch.stiffness`. */
export function kindOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** What tells a parameter from others of its group: `l_knee_pitch.stiffness`. */
export function within(group: string, name: string): string {
  return name.startsWith(`${group}.`) ? name.slice(group.length + 1) : name;
}

/** Groups in the order in which they come; those of a robot by its part (`khr1.drives`), others by their first word. */
export function grouped(parameters: Parameter[], filter: string): Group[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, Parameter[]>();
  for (const parameter of parameters) {
    const text = parameter.name.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const parts = parameter.name.split('.');
    const name = parts.length >= 4 ? `${parts[0]}.${parts[1]}` : (parts[0] ?? '');
    const group = groups.get(name);
    if (group) group.push(parameter);
    else groups.set(name, [parameter]);
  }
  return [...groups].map(([name, members]) => ({ name, parameters: members, kinds: repeated(members) }));
}

function repeated(parameters: Parameter[]): string[] {
  const counts = new Map<string, number>();
  for (const { name } of parameters) counts.set(kindOf(name), (counts.get(kindOf(name)) ?? 0) + 1);
  return [...counts].filter(([, n]) => n > 2).map(([kind]) => kind);
}

/** Whether a parameter differs from the document's scene. */
export function isChanged(parameter: Parameter): boolean {
  return parameter.value !== parameter.initial;
}

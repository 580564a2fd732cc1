// Names of bodies and links, as the simulation has them, and their places among the bodies of a frame.

import type { Document, Stage } from '../wire/wire';
import type { Place } from './place';

/** A link on a body. */
export interface LinkPlace {
  body: number;
  /** Pose of the link on the body. */
  place: Place;
}

/** A cone on a body, which opens along the x axis of its link. */
export interface ConeOnBody extends LinkPlace {
  /** Half its opening. [rad] */
  angle: number;
}

const IDENTITY: Place = [0, 0, 0, 0, 0, 0, 1];

/** The body of a link of the first robot, of `robot/link`, or of a body of the scene, and the link's pose on it. */
export function bodyOf(stage: Stage | null, part: string): LinkPlace | null {
  let first = 0;
  for (const [i, robot] of (stage?.robots ?? []).entries()) {
    const own = part.startsWith(`${robot.name}/`) ? part.slice(robot.name.length + 1) : i === 0 ? part : null;
    const link = robot.links.find((one) => one.name === own);
    if (link && link.body !== null) return { body: first + link.body, place: link.pose };
    first += robot.bodies.length;
  }
  const object = stage?.objects.findIndex((one) => one.name === part) ?? -1;
  return object < 0 ? null : { body: first + object, place: IDENTITY };
}

/** The name of a body that can move; `null` of one that cannot. */
export function partOf(stage: Stage | null, body: number): string | null {
  let index = body;
  for (const robot of stage?.robots ?? []) {
    const link = robot.bodies[index];
    if (link !== undefined) return `${robot.name}/${link}`;
    index -= robot.bodies.length;
  }
  const object = stage?.objects[index];
  return object && !object.fixed ? object.name : null;
}

/** Cones of a document's panels, those whose links are there. */
export function conesOf(document: Document | null, stage: Stage | null): ConeOnBody[] {
  const unit = document?.units.angle === 'deg' ? Math.PI / 180 : 1;
  const widgets = (document?.panels ?? []).flatMap((panel) => panel.widgets);
  return widgets.flatMap(({ cone }) => {
    const at = cone && bodyOf(stage, cone.link);
    return at ? [{ ...at, angle: cone.angle * unit }] : [];
  });
}

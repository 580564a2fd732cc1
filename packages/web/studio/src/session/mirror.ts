// Left and right exchanged: which joint shows which one's position, and with which sign.

import type { JointDescription, Mirror, RobotDescription } from '../wire/wire';

/** Joint and position. [rad or m] */
export type Positions = { [joint: string]: number };

/** Beginnings of names that tell the sides apart: they propose pairs, and the axes say the signs. */
const SIDES: readonly [string, string][] = [
  ['l_', 'r_'],
  ['left_', 'right_'],
  ['L', 'R'],
];

/** Mirror image of positions: each joint's value goes to its partner, with the sign of the table. */
export function mirrored(positions: Positions, mirror: Mirror): Positions {
  const image: Positions = {};
  const put = (joint: string, position: number) => {
    image[joint] = position === 0 ? 0 : position;
  };
  for (const [left, right, sign] of mirror.pairs) {
    const l = positions[left];
    const r = positions[right];
    if (l !== undefined) put(right, sign * l);
    if (r !== undefined) put(left, sign * r);
  }
  for (const [joint, sign] of Object.entries(mirror.self)) {
    const own = positions[joint];
    if (own !== undefined) put(joint, sign * own);
  }
  return image;
}

/**
 * The table that a robot's axes say, about its plane of symmetry y = 0 in the default posture: with S = diag(1, -1, 1), the sign of a
 * turning joint b that shows a is -(S axis_a) · axis_b, that of a sliding one (S axis_a) · axis_b. `null` of a robot without pairs.
 */
export function mirrorOfAxes(robot: RobotDescription): Mirror | null {
  const leaders = robot.joints.filter((joint) => joint.mimic === null);
  const byName = new Map(leaders.map((joint) => [joint.name, joint]));
  const mirror: Mirror = { pairs: [], self: {} };
  const paired = new Set<string>();
  for (const joint of leaders) {
    for (const [left, right] of SIDES) {
      if (!joint.name.startsWith(left)) continue;
      const partner = byName.get(right + joint.name.slice(left.length));
      if (!partner || paired.has(joint.name)) continue;
      mirror.pairs.push([joint.name, partner.name, sign(robot, joint, partner)]);
      paired.add(joint.name).add(partner.name);
    }
  }
  if (mirror.pairs.length === 0) return null;
  for (const joint of leaders) {
    if (!paired.has(joint.name)) mirror.self[joint.name] = sign(robot, joint, joint);
  }
  return mirror;
}

function sign(robot: RobotDescription, a: JointDescription, b: JointDescription): number {
  const [x, y, z] = axisInWorld(robot, a);
  const other = axisInWorld(robot, b);
  const along = x * other[0] - y * other[1] + z * other[2];
  return (a.unit === 'rad' ? -along : along) < 0 ? -1 : 1;
}

/** Axis of a joint in the world, in the default posture: q axis q*. */
function axisInWorld(robot: RobotDescription, joint: JointDescription): [number, number, number] {
  const [, , , x = 0, y = 0, z = 0, w = 1] = robot.bodies_at_rest[joint.body] ?? [];
  const [a, b, c] = joint.axis;
  const [tx, ty, tz] = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)];
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
}

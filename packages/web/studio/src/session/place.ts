/** Pose: `x y z qx qy qz qw`. [m, -] (7) */
export type Place = [number, number, number, number, number, number, number];

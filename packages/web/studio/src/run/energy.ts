// The energy of a simulation and its ledger, from the quantities that are plotted.

/** Causes of the ledger, in the order of the wire. */
export const CAUSES = [
  'servos',
  'external',
  'contacts',
  'limits',
  'friction',
  'dampers',
  'loops',
  'stabilisation',
  'integration',
  'unexplained',
] as const;

export interface EnergyRow {
  cause: 'kinetic' | 'potential' | (typeof CAUSES)[number];
  /** What there is of it, or what came in by it since the start. [J] */
  joules: number;
}

/** Rows of the table; causes by which nothing came or went are left out. */
export function energyRows(names: readonly string[], values: ArrayLike<number>): EnergyRow[] {
  const of = (name: string) => values[names.indexOf(name)] ?? 0;
  const present: EnergyRow[] = [
    { cause: 'kinetic', joules: of('energy.kinetic_J') },
    { cause: 'potential', joules: of('energy.potential_J') },
  ];
  const causes = CAUSES.map((cause) => ({ cause, joules: of(`ledger.${cause}_J`) }));
  return [...present, ...causes.filter(({ joules }) => joules !== 0)];
}

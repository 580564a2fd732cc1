// Documents never change in place: a patch makes a new one that shares what stayed.

import type { Document, DocumentPatch, Motion } from '../wire/wire';

/** The document with the parts of the patch in place of its own. */
export function patched(document: Document, patch: Partial<DocumentPatch>): Document {
  const { motions, motion_order, ...parts } = patch;
  return { ...document, ...parts, motions: patchedMotions(document.motions, motions, motion_order) };
}

type Motions = { [name: string]: Motion };

function patchedMotions(before: Motions, changed: Motions | undefined, order: string[] | undefined): Motions {
  if (!changed && !order) return before;
  const all: Motions = { ...before, ...changed };
  if (!order) return all;
  const entries = order.flatMap((name) => {
    const motion = all[name];
    return motion ? [[name, motion] as const] : [];
  });
  return Object.fromEntries(entries);
}

// What is wrong with the motion that is shown: checks of its samples, and its preview's, worded.

import { coded } from '../i18n/index.svelte';
import type { Studio } from '../session/studio.svelte';
import { shown } from '../session/units';
import type { Verdict } from '../wire/wire';

/** Kinds that one may leave as they are: the motion can be performed. */
const REMARKS: readonly string[] = ['torque_at_speed', 'impulse', 'static', 'sole'];

export interface WordedFinding extends Verdict {
  isRemark: boolean;
  text: string;
  source: 'motion' | 'preview';
}

/** Findings of the motion that is shown, in order of time. */
export function findings(studio: Studio): WordedFinding[] {
  const name = studio.motionName;
  const sampled = studio.display.sampled;
  const preview = studio.preview;
  const fromMotion = sampled?.motion === name ? sampled.report.findings : [];
  const fromPreview =
    preview?.motion === name && previewIsCurrent(studio) ? (preview.report?.findings ?? []) : [];
  const all = [
    ...fromMotion.map((finding) => worded(finding, 'motion')),
    ...fromPreview.map((finding) => worded(finding, 'preview')),
  ];
  return all.filter((finding) => finding.kind !== 'ok').sort((a, b) => a.time - b.time);
}

/** Whether the motion is still what its preview was of. */
export function previewIsCurrent(studio: Studio): boolean {
  return studio.preview?.report !== null && studio.previewRev === studio.rev;
}

function worded(finding: Verdict, source: 'motion' | 'preview'): WordedFinding {
  const [value, limit] = inScreenUnits(finding);
  const args = { time: shown(finding.time, 2), what: finding.what, value, limit };
  return {
    ...finding,
    isRemark: REMARKS.includes(finding.kind),
    source,
    text: coded('finding', finding.kind, `${finding.kind} ${finding.what}`, args),
  };
}

/** Whether the motion that is shown was previewed as it is, and nothing was wrong. */
export function previewIsSound(studio: Studio): boolean {
  const preview = studio.preview;
  return (
    preview?.motion === studio.motionName && previewIsCurrent(studio) && preview?.report?.verdict === 'ok'
  );
}

/** Value and limit with their units. */
function inScreenUnits({ kind, value, limit }: Verdict): [string, string] {
  const degrees = (x: number) => `${shown((x * 180) / Math.PI, 1)}°`;
  switch (kind) {
    case 'limit':
      return [degrees(value), degrees(limit)];
    case 'speed':
      return [`${degrees(value)}/s`, `${degrees(limit)}/s`];
    case 'torque':
    case 'torque_at_speed':
      return [`${shown(value, 2)} N·m`, `${shown(limit, 2)} N·m`];
    case 'balance':
    case 'static':
    case 'sole':
    case 'collision':
      return [`${shown(value * 1000, 1)} mm`, `${shown(limit * 1000, 1)} mm`];
    default:
      return [shown(value, 2), shown(limit, 2)];
  }
}

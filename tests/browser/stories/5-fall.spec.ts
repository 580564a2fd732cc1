// Story 5: will it fall?

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from '../support/test';
import { PROGRAM } from '../support/server';

interface Event {
  kind: string;
  time: number;
  scene: number;
}

/** What `karakuri motion check --json` says, as far as it is compared. */
interface Said {
  verdict: string;
  digest: string;
  events: Event[];
}

/** A bow that leans too far: both hips turn until the centre of mass is beyond the toes. */
function bow(hip: number): string {
  return `karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
units: {angle: deg}
poses:
  stand: {}
  bow: {l_ankle_pitch: ${hip}, r_ankle_pitch: ${hip}}
motions:
  greet:
    start: {pose: stand, support: both}
    scenes:
      - {pose: stand, time: 0.5}
      - {pose: bow, time: 0.6}
      - {pose: bow, time: 1.0, ease: hold}
`;
}

test('the page says what the command line says, and marks the scene', async ({ start, studio, page, folder }) => {
  const file = folder.file('bow.yaml');
  writeFileSync(file, bow(35));
  const check = spawnSync(PROGRAM, ['motion', 'check', file, '--json'], { encoding: 'utf8', cwd: folder.path });
  expect(check.status, check.stderr).toBe(3);
  const said: Said = JSON.parse(check.stdout);
  expect(said.verdict).toBe('falls');

  await start('bow.yaml');
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(page.locator('[data-verdict="falls"]')).toBeVisible({ timeout: 30_000 });
  const report = (await studio.get('preview'))?.report;
  expect(report?.verdict).toBe('falls');
  // one simulation: the same digest of all its states, and so the same instants
  expect(report?.digest).toBe(said.digest);
  const falls = (events: Event[] | undefined) => events?.filter((event) => event.kind === 'falls').map(({ time, scene }) => ({ time, scene }));
  expect(falls(report?.findings)).toEqual(falls(said.events));
  expect(falls(report?.findings)).toHaveLength(1);
  const fall = report?.findings.find((finding) => finding.kind === 'falls');
  await expect(page.locator(`tr[data-scene="${fall?.scene ?? 1}"]`)).toHaveClass(/bad/);

  // the same again is known
  const digest = report?.digest;
  const begun = Date.now();
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect.poll(async () => (await studio.get('preview'))?.report?.cached).toBe(true);
  console.log(`known preview after ${Date.now() - begun} ms`);
  expect((await studio.get('preview'))?.report?.digest).toBe(digest);
});

test('a motion that stands is ok, and an edit makes its verdict old', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('bow.yaml'), bow(3));
  await start('bow.yaml');
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(page.locator('[data-verdict="ok"]')).toBeVisible({ timeout: 30_000 });
  await page.getByRole('textbox', { name: 'Time of scene 2' }).fill('0.7');
  await page.getByRole('textbox', { name: 'Time of scene 2' }).press('Enter');
  await studio.idle();
  await expect(page.locator('[data-verdict]')).toHaveCount(0);
  await expect(page.getByText('changed since the preview')).toBeVisible();
});

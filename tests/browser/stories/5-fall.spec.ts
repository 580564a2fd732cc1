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
  const known = await studio.clock((studio) => studio.preview?.report?.cached === true);
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  const took = await known();
  console.log(`known preview after ${took.toFixed(0)} ms`);
  expect(took).toBeLessThan(50);
  expect((await studio.get('preview'))?.report?.digest).toBe(report?.digest);
});

/** Ten seconds of bows that stand. */
const LONG = bow(3).replace(
  /scenes:[^]*/,
  `scenes:\n${Array.from({ length: 10 }, (_, i) => `      - {pose: ${i % 2 ? 'stand' : 'bow'}, time: 1}\n`).join('')}`,
);

test('ten seconds are shown as they are simulated, and an edit ends that', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('bow.yaml'), LONG);
  await start('bow.yaml');
  const time = page.getByRole('textbox', { name: 'Time of scene 2' });
  const edit = async (seconds: number) => {
    await time.fill(String(seconds));
    await time.press('Enter');
  };
  const preview = page.getByRole('button', { name: 'Preview', exact: true });
  const times: { first: number; all: number }[] = [];
  // others use this machine as well: the fastest of some counts
  for (const seconds of [1.01, 1.02, 1.03]) {
    await edit(seconds);
    await studio.idle();
    const isNew = `studio.preview.job > ${(await studio.get('preview'))?.job}`;
    const first = await studio.clock(`(studio) => ${isNew} && studio.simulatedRows > 0`);
    const all = await studio.clock(`(studio) => ${isNew} && studio.simulatedRows === studio.preview.report?.n_rows`);
    await preview.click();
    times.push({ first: await first(), all: await all() });
  }
  const fastest = (key: 'first' | 'all') => Math.min(...times.map((one) => one[key]));
  console.log(`first rows of 10 s after ${fastest('first').toFixed(0)} ms, all after ${fastest('all').toFixed(0)} ms`);
  expect(fastest('first')).toBeLessThan(300);
  expect(fastest('all')).toBeLessThan(2000);
  expect((await studio.get('preview'))?.report?.verdict).toBe('ok');

  // as simulated, the motion goes on for a while after its end
  await page.getByRole('button', { name: 'Simulated' }).click();
  await page.keyboard.press('End');
  expect(await studio.get('time')).toBeGreaterThan(10.5);

  const cancels: number[] = [];
  const ends: number[] = [];
  // so long that it is not over before it is ended
  await edit(61.04);
  for (const seconds of [61.05, 61.06, 61.07]) {
    await studio.idle();
    await preview.click();
    const cancelled = await studio.clock((studio) => studio.preview?.cancelled === true);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    cancels.push(await cancelled());
    await preview.click();
    await time.fill(String(seconds));
    const ended = await studio.clock((studio) => studio.preview?.cancelled === true);
    await time.press('Enter');
    ends.push(await ended());
  }
  const [cancel, byEdit] = [Math.min(...cancels), Math.min(...ends)];
  console.log(`a preview ends ${cancel.toFixed(0)} ms after Cancel, ${byEdit.toFixed(0)} ms after an edit`);
  expect(Math.max(cancel, byEdit)).toBeLessThan(100);
  await studio.idle();
  expect(await studio.get('simulatedRows')).toBe(0);
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

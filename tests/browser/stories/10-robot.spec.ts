// Story 10: a planned walk is edited and previewed, and played in the simulation. `tests/launch/test_studio_walk.py` sends it to a robot.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { filmStrip } from '../support/film';
import { PROGRAM, ROOT } from '../support/server';
import { expect, type StudioPage, test } from '../support/test';

/** How far a joint swings in the motion that is shown. [rad] */
function swing(studio: StudioPage, joint: string, duration: number): Promise<number> {
  return studio.page.evaluate(
    ([name, end]) => {
      const positions = Array.from({ length: 400 }, (_, i) => window.__studio?.q(name as string, ((end as number) * i) / 399) ?? Number.NaN);
      return Math.max(...positions) - Math.min(...positions);
    },
    [joint, duration],
  );
}

test('a planned walk swings its arms wider, stands, and walks in the simulation', async ({ start, studio, page, folder }, info) => {
  mkdirSync(folder.file('config/gaits'));
  cpSync(join(ROOT, 'config/gaits/khr1_board.yaml'), folder.file('config/gaits/khr1_board.yaml'));
  const plan = ['gait', 'plan', folder.file('config/gaits/khr1_board.yaml'), '--distance', '0.12', '--motion', folder.file('walk.yaml'), '-q'];
  const planned = spawnSync(PROGRAM, plan, { encoding: 'utf8' });
  expect(planned.status, planned.stderr).toBe(0);

  await start('walk.yaml');
  expect(await studio.get('motion')).toBe('walk');
  await page.keyboard.press('End');
  const duration = await studio.get('time');
  const arms = ['l_shoulder_pitch', 'r_shoulder_pitch'];
  const before = await Promise.all(arms.map((arm) => swing(studio, arm, duration)));
  expect(before[0]).toBeGreaterThan(0.1);
  await studio.tab('Timeline').click();
  for (const arm of arms) {
    await page.getByRole('combobox', { name: 'Joint of the key' }).selectOption(arm);
    const field = page.getByRole('textbox', { name: `Swing of ${arm}` });
    await field.fill('180');
    await field.press('Enter');
    await studio.idle();
  }
  for (const [i, arm] of arms.entries()) expect(await swing(studio, arm, duration)).toBeCloseTo(1.8 * (before[i] ?? 0), 3);

  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(page.locator('[data-verdict="ok"]')).toBeVisible({ timeout: 30_000 });
  await page.getByRole('button', { name: 'Simulated' }).click();
  const pictures = process.env.KARAKURI_PICTURES;
  const film = pictures === undefined ? info.outputPath('walk.png') : join(pictures, 'studio_walk.png');
  await page.getByRole('button', { name: 'Right', exact: true }).first().click();
  await filmStrip(studio, [0, 0.2, 0.4, 0.6, 0.8, 1], film);
  await page.keyboard.press('End');
  await studio.idle();
  expect((await studio.body('base_link'))[0]).toBeGreaterThan(0.08);

  // the same in a run, where the robot can be pushed and its numbers changed
  await studio.tab('Run').click();
  await page.locator('#right-pane').getByRole('combobox', { name: 'Motion' }).selectOption('walk');
  await page.locator('#right-pane').getByRole('combobox', { name: 'Speed' }).selectOption({ label: 'fastest' });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(async () => (await studio.body('base_link'))[0] ?? 0, { timeout: 20_000 }).toBeGreaterThan(0.08);
  expect((await studio.body('base_link'))[2]).toBeGreaterThan(0.1);
});

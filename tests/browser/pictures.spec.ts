// Pictures of the documentation: `KARAKURI_PICTURES=FOLDER npx playwright test pictures` leaves them there.

import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './support/server';
import { test } from './support/test';

const out = process.env.KARAKURI_PICTURES ?? '';

test('the pictures of the tutorial', async ({ start, studio, page, folder }) => {
  mkdirSync(out, { recursive: true });
  mkdirSync(folder.file('config/motions'), { recursive: true });
  cpSync(join(ROOT, 'config/motions/khr1_greet.yaml'), folder.file('config/motions/khr1_greet.yaml'));
  await start('config/motions/khr1_greet.yaml');
  // what a graphics card draws: shadows and round shapes
  await page.getByRole('button', { name: 'Low detail' }).click();
  await page.locator('tr[data-scene="1"]').getByRole('button', { name: 'Scene 2', exact: true }).click();
  await studio.idle();
  await page.screenshot({ path: join(out, 'studio.png') });

  await studio.tab('Balance').click();
  await page.getByRole('button', { name: 'r_gripper' }).click();
  await studio.tab('Timeline').click();
  await studio.idle();
  await page.screenshot({ path: join(out, 'studio_balance.png') });

  await page.setViewportSize({ width: 834, height: 1112 });
  await page.getByRole('combobox', { name: 'Language' }).selectOption('ja');
  await studio.idle();
  await page.screenshot({ path: join(out, 'studio_tablet.png') });
});

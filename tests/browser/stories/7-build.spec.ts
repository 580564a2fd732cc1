// Story 7: build a scene.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { PROGRAM } from '../support/server';
import { expect, test } from '../support/test';

test('a box is added, moved, hinged, hung on a spring, copied and removed', async ({ start, studio, page }) => {
  await start();
  const scene = async () => (await studio.get('document'))?.scene;
  await studio.tab('Scene').click();
  await page.getByRole('button', { name: 'Box', exact: true }).click();
  await studio.idle();
  expect(Object.keys((await scene())?.bodies ?? {})).toEqual(['box']);

  const z = page.getByRole('textbox', { name: 'box position z [mm]' });
  await z.fill('100');
  await z.press('Enter');
  await studio.idle();
  expect((await scene())?.bodies.box).toMatchObject({ pose: { xyz: [0.2, 0, 0.1] } });

  await page.getByRole('button', { name: 'Hinge', exact: true }).click();
  await studio.idle();
  await page.getByRole('button', { name: 'box', exact: true }).click();
  await page.getByRole('button', { name: 'Spring', exact: true }).click();
  await studio.idle();
  await page.getByRole('button', { name: 'box', exact: true }).click();
  await page.getByRole('button', { name: 'Duplicate box' }).click();
  await studio.idle();
  expect(Object.keys((await scene())?.bodies ?? {})).toEqual(['box', 'box_2']);

  // what hangs on a body goes with it, is named, and comes back with it
  await page.getByRole('button', { name: 'box', exact: true }).click();
  await page.getByRole('button', { name: 'Remove box', exact: true }).click();
  await studio.idle();
  await expect(page.getByRole('log', { name: 'Notices' })).toContainText('box_hinge, box_spring');
  expect(await scene()).toMatchObject({ joints: {}, springs: {} });
  await page.keyboard.press('Control+z');
  await studio.idle();
  expect(Object.keys((await scene())?.joints ?? {})).toEqual(['box_hinge']);

  for (let i = 0; i < 5; i++) {
    await page.keyboard.press('Control+z');
    await studio.idle();
  }
  expect((await scene())?.bodies).toEqual({});
});

test('a scene file that is edited runs in `karakuri simulate`', async ({ start, studio, page, folder }) => {
  folder.write('ball.yaml', 'ground: {friction: 0.5}\nbodies:\n  - {name: ball, mass: 0.1, shape: {sphere: {radius: 0.03}}, pose: {xyz: [0, 0, 0.1]}}\n');
  await start('ball.yaml');
  await studio.tab('Scene').click();
  await page.getByRole('button', { name: 'Cylinder', exact: true }).click();
  await studio.idle();
  await page.keyboard.press('Control+s');
  await studio.idle();
  if (!readFileSync(folder.file('ball.yaml'), 'utf8').includes('cylinder')) {
    await page.getByRole('textbox', { name: 'Path' }).fill('ball.yaml');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await studio.idle();
  }
  expect(readFileSync(folder.file('ball.yaml'), 'utf8')).toContain('cylinder');
  const run = spawnSync(PROGRAM, ['simulate', folder.file('ball.yaml'), '--duration', '0.2'], { encoding: 'utf8' });
  expect(run.status, run.stderr).toBe(0);
});

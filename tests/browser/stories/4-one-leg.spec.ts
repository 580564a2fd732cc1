// Story 4: stand on one leg.

import { expect, type StudioPage, test } from '../support/test';

/** Place of a sole's body. [m] (3) */
async function foot(studio: StudioPage, side: 'l' | 'r'): Promise<number[]> {
  return (await studio.body(`${side}_foot`)).slice(0, 3);
}

function distance(a: number[], b: number[]): number {
  return Math.hypot(...a.map((x, i) => x - (b[i] ?? 0)));
}

test('the robot stands on its left foot and lifts the right one', async ({ start, studio, page }) => {
  await start();
  for (const side of ['l', 'r']) {
    await studio.setJoint(`${side}_hip_pitch`, -20);
    await studio.setJoint(`${side}_knee_pitch`, 40);
    await studio.setJoint(`${side}_ankle_pitch`, -20);
  }
  await studio.addPose('one_leg');
  await studio.tab('Balance').click();
  await page.getByRole('combobox', { name: 'Standing on' }).selectOption('left');
  await studio.idle();
  const left = await foot(studio, 'l');
  const body = await studio.body('base_link');

  await page.getByRole('button', { name: /^Left: centre of mass/ }).click();
  await studio.idle();
  expect(await studio.get('margin')).toBeGreaterThan(0.01);
  expect(distance(await foot(studio, 'l'), left)).toBeLessThan(1e-4);
  const shifted = await studio.body('base_link');
  expect((shifted[1] ?? 0) - (body[1] ?? 0)).toBeGreaterThan(0.01);

  await page.getByRole('button', { name: 'r_sole' }).click();
  const z = page.getByRole('textbox', { name: 'r_sole z [mm]' });
  await z.fill('15');
  await z.press('Enter');
  await studio.idle();
  expect((await studio.link('r_sole'))[2]).toBeCloseTo(0.015, 3);
  expect(distance(await foot(studio, 'l'), left)).toBeLessThan(1e-4);
  expect(await studio.get('margin')).toBeGreaterThan(0.01);

  // knees bend: the standing foot stays
  await studio.tab('Joints').click();
  await studio.setJoint('l_knee_pitch', 50);
  expect(distance(await foot(studio, 'l'), left)).toBeLessThan(1e-4);
});

test('over the other foot the body moves to the other side', async ({ start, studio, page }) => {
  await start();
  for (const side of ['l', 'r']) {
    await studio.setJoint(`${side}_hip_pitch`, -20);
    await studio.setJoint(`${side}_knee_pitch`, 40);
    await studio.setJoint(`${side}_ankle_pitch`, -20);
  }
  await studio.addPose('one_leg');
  await studio.tab('Balance').click();
  await page.getByRole('combobox', { name: 'Standing on' }).selectOption('right');
  await studio.idle();
  const body = await studio.body('base_link');
  await page.getByRole('button', { name: /^Right: centre of mass/ }).click();
  await studio.idle();
  const shifted = await studio.body('base_link');
  expect((shifted[1] ?? 0) - (body[1] ?? 0)).toBeLessThan(-0.01);
  expect(await studio.get('margin')).toBeGreaterThan(0.01);
});

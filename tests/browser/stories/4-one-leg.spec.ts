// Story 4: stand on one leg.

import { expect, type StudioPage, test } from '../support/test';

/** Place of a sole's body. [m] (3) */
async function foot(studio: StudioPage, side: 'l' | 'r'): Promise<number[]> {
  return (await studio.body(`${side}_foot`)).slice(0, 3);
}

/** A pose with bent knees, whose balance is shown. */
async function crouch(studio: StudioPage): Promise<void> {
  for (const side of ['l', 'r']) {
    await studio.setJoint(`${side}_hip_pitch`, -20);
    await studio.setJoint(`${side}_knee_pitch`, 40);
    await studio.setJoint(`${side}_ankle_pitch`, -20);
  }
  await studio.addPose('one_leg');
  await studio.tab('Balance').click();
}

function distance(a: number[], b: number[]): number {
  return Math.hypot(...a.map((x, i) => x - (b[i] ?? 0)));
}

test('the robot stands on its left foot and lifts the right one', async ({ start, studio, page }) => {
  await start();
  await crouch(studio);
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
  await crouch(studio);
  await page.getByRole('combobox', { name: 'Standing on' }).selectOption('right');
  await studio.idle();
  const body = await studio.body('base_link');
  await page.getByRole('button', { name: /^Right: centre of mass/ }).click();
  await studio.idle();
  const shifted = await studio.body('base_link');
  expect((shifted[1] ?? 0) - (body[1] ?? 0)).toBeLessThan(-0.01);
  expect(await studio.get('margin')).toBeGreaterThan(0.01);
});

test('the centre of mass is dragged over the feet, which stay', async ({ start, studio, page }) => {
  await start();
  await crouch(studio);
  const com = () => studio.link('robot/com');
  await page.getByRole('button', { name: 'Centre of mass', exact: true }).click();
  await studio.idle();
  const [feet, before, rev] = [[await foot(studio, 'l'), await foot(studio, 'r')], await com(), await studio.get('rev')];

  // arrows are a twelfth of the view long, wherever the camera is
  const view = await page.getByLabel('Picture of the robot').boundingBox();
  await studio.drag('robot/com', [0, 0.012, 0], 0.05 * (view?.height ?? 0));
  await page.mouse.up();
  await studio.idle();
  expect((await com())[1] - before[1]).toBeGreaterThan(0.006);
  expect(distance(await foot(studio, 'l'), feet[0] ?? [])).toBeLessThan(1e-4);
  expect(distance(await foot(studio, 'r'), feet[1] ?? [])).toBeLessThan(1e-4);
  expect(await studio.get('rev')).toBe(rev + 1);

  // to the millimetre, at whatever height
  await expect(page.getByRole('textbox', { name: 'Centre of mass z [mm]' })).toHaveCount(0);
  const x = page.getByRole('textbox', { name: 'Centre of mass x [mm]' });
  const aim = Math.round(1000 * (await com())[0]) + 4;
  await x.fill(String(aim));
  await x.press('Enter');
  await studio.idle();
  expect(1000 * (await com())[0]).toBeCloseTo(aim, 1);
  expect((await studio.ik())?.reached).toBe(true);

  // beyond the toes there is no such pose
  await x.fill('200');
  await x.press('Enter');
  await studio.idle();
  expect((await studio.ik())?.reached).toBe(false);
  for (const q of Object.values(await studio.pose())) expect(Number.isFinite(q)).toBe(true);
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Undo/ }).click();
    await studio.idle();
  }
  expect(await studio.get('rev')).toBe(rev + 6);
  expect(distance(await com(), before)).toBeLessThan(1e-9);
});

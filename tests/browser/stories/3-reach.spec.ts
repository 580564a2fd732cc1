// Story 3: drag a hand, and the arm follows.

import { expect, type StudioPage, test } from '../support/test';
import type { Page } from '@playwright/test';

async function chooseHand(page: Page, studio: StudioPage): Promise<void> {
  await studio.tab('Balance').click();
  await page.getByRole('button', { name: 'r_gripper' }).click();
  await studio.idle();
}

test('a hand goes where it is dragged, and Escape takes it back', async ({ start, studio, page }) => {
  await start();
  await studio.setJoint('r_elbow_roll', -40);
  await studio.setJoint('r_shoulder_pitch', -40);
  await studio.setJoint('r_shoulder_roll', -30);
  await studio.addPose('reach');
  await chooseHand(page, studio);
  const rev = await studio.get('rev');
  const before = await studio.pose();

  await studio.drag('r_gripper', [0.008, -0.004, 0.012]);
  await page.mouse.up();
  await studio.idle();
  const report = await studio.ik();
  expect(report?.reached).toBe(true);
  expect(report?.position_error).toBeLessThan(1e-3);
  expect(await studio.get('rev')).toBe(rev + 1);
  expect(await studio.pose()).not.toEqual(before);

  await studio.drag('r_gripper', [0.02, 0, 0.03]);
  await page.keyboard.press('Escape');
  await page.mouse.up();
  await studio.idle();
  expect(await studio.get('rev')).toBe(rev + 1);

  await page.keyboard.press('Control+z');
  await studio.idle();
  expect(await studio.pose()).toEqual(before);
});

test('a target out of reach is said to be, and the pose stays within its limits', async ({ start, studio, page }) => {
  await start();
  await studio.addPose('reach');
  await chooseHand(page, studio);
  const before = await studio.pose();
  const field = page.getByRole('textbox', { name: 'r_gripper x [mm]' });
  await field.fill('1000');
  await field.press('Enter');
  await studio.idle();
  const report = await studio.ik();
  expect(report?.reached).toBe(false);
  expect(report?.obstacle).toBe('OutOfReach');
  await expect(page.getByRole('status').filter({ hasText: 'mm short' })).toBeVisible();
  for (const q of Object.values(await studio.pose())) expect(Number.isFinite(q)).toBe(true);
  await studio.tab('Joints').click();
  for (const slider of await page.getByRole('list', { name: 'Joints' }).getByRole('slider').all()) {
    const [value, min, max] = await slider.evaluate((one: HTMLInputElement) => [one.value, one.min, one.max].map(Number));
    expect(value).toBeGreaterThanOrEqual((min ?? 0) - 1e-6);
    expect(value).toBeLessThanOrEqual((max ?? 0) + 1e-6);
  }
  await page.keyboard.press('Control+z');
  await studio.idle();
  expect(await studio.pose()).toEqual(before);
});

test('locked joints do not move', async ({ start, studio, page }) => {
  await start();
  await studio.setJoint('r_elbow_roll', -40);
  await studio.addPose('reach');
  await page.getByRole('button', { name: 'Lock r_elbow_roll' }).click();
  const before = await studio.pose();
  await chooseHand(page, studio);
  const z = page.getByRole('textbox', { name: 'r_gripper z [mm]' });
  await z.fill('170');
  await z.press('Enter');
  await studio.idle();
  const after = await studio.pose();
  expect(after.r_elbow_roll).toBe(before.r_elbow_roll);
  expect(after).not.toEqual(before);
});

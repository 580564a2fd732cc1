// Story 1: open a robot and look at it.

import { expect, test } from '../support/test';

test('a robot is there in three seconds and moves with its sliders', async ({ start, studio, page, folder }) => {
  const begun = Date.now();
  await start();
  const took = Date.now() - begun;
  console.log(`first frame after ${took} ms, server included`);

  const names = await page.getByRole('list', { name: 'Joints' }).getByRole('slider').evaluateAll((sliders) =>
    sliders.map((slider) => slider.getAttribute('aria-label')),
  );
  expect(names).toHaveLength(17);
  expect(names[0]).toBe('head_yaw');
  expect(names).toEqual(Object.keys(await studio.pose()));

  const before = (await studio.pose()).l_elbow_roll ?? Number.NaN;
  await studio.slider('l_elbow_roll').focus();
  await page.keyboard.press('Shift+ArrowRight');
  await studio.idle();
  const after = (await studio.pose()).l_elbow_roll ?? Number.NaN;
  expect(after - before).toBeCloseTo((10 * Math.PI) / 180, 6);

  await page.locator('[data-joint="r_knee_pitch"]').hover();
  expect(await studio.get('hovered')).toBe('r_knee_pitch');
});

test('hovering a body in the picture names its joint', async ({ start, studio, page }) => {
  await start();
  const head = await studio.body('head');
  const at = await page.evaluate(([x, y, z]) => window.__studio?.project(x ?? 0, y ?? 0, (z ?? 0) + 0.03), head);
  if (!at) throw new Error('nothing is drawn');
  await page.mouse.move(at[0], at[1]);
  await page.mouse.move(at[0] + 1, at[1]);
  await expect.poll(() => studio.get('hovered')).toBe('head_yaw');
  await expect(page.locator('[data-joint="head_yaw"]')).toHaveClass(/hovered/);
});

test('without the token there is nothing to see', async ({ start, studio, page }) => {
  const server = await start();
  const address = new URL(server.address);
  const mesh = await page.request.get(`${address.origin}/mesh/0123`, { failOnStatusCode: false });
  expect(mesh.status()).toBe(401);

  const stranger = await page.context().newPage();
  await stranger.goto(address.origin);
  await expect(stranger.getByRole('alert')).toContainText('lacks its token');
  expect(await stranger.evaluate(() => window.__studio?.document ?? null)).toBeNull();
  await stranger.close();
  expect(await studio.get('ready')).toBe(true);
});

test('the picture is drawn only when something changes', async ({ start, studio, page }) => {
  await start();
  await page.mouse.move(5, 5);
  await studio.idle();
  const frames = await studio.get('frames');
  // long enough for 30 frames of an animation
  await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
  expect(await studio.get('frames')).toBe(frames);
});

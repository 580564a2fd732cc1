// Story 2: make poses, put them in time, play, take back.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '../support/test';

const HEAD = `karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
`;

test('a bow is made, played and taken back', async ({ start, studio, page }) => {
  await start();
  await studio.setJoint('l_hip_pitch', -10);
  await studio.setJoint('r_hip_pitch', -10);
  await studio.addPose('stand');
  await studio.setJoint('l_hip_pitch', -50);
  await page.getByRole('button', { name: 'Undo l_hip_pitch' }).click();
  await studio.idle();
  await page.getByRole('button', { name: 'Duplicate stand' }).click();
  await studio.idle();
  await page.getByRole('button', { name: 'Rename stand_2' }).click();
  await page.getByRole('textbox', { name: 'Rename' }).fill('bow');
  await page.getByRole('textbox', { name: 'Rename' }).press('Enter');
  await studio.idle();
  await studio.setJoint('l_hip_pitch', -50);
  await studio.setJoint('r_hip_pitch', -50);

  await page.getByRole('button', { name: 'New motion' }).click();
  await studio.idle();
  for (const [pose, time] of [
    ['bow', 1],
    ['stand', 1],
  ] as const) {
    await page.getByRole('button', { name: 'Add scene' }).click();
    await studio.idle();
    const row = page.locator('tr[data-scene]').last();
    await row.getByRole('combobox', { name: /^Pose of scene/ }).selectOption(`pose:${pose}`);
    await row.getByRole('textbox', { name: /^Time of scene/ }).fill(String(time));
    await row.getByRole('textbox', { name: /^Time of scene/ }).press('Enter');
    await studio.idle();
  }
  const motion = (await studio.get('document'))?.motions.motion;
  expect(motion?.scenes.map((scene) => [scene.pose, scene.time, scene.ease])).toEqual([
    ['stand', 0.5, 'smooth'],
    ['bow', 1, 'smooth'],
    ['stand', 1, 'smooth'],
  ]);
  const degree = Math.PI / 180;
  // half of the time of a smooth scene is half of its movement
  expect(await studio.q('l_hip_pitch', 1)).toBeCloseTo(-30 * degree, 6);
  expect(await studio.q('l_hip_pitch', 1.5)).toBeCloseTo(-50 * degree, 6);

  // a scene that is selected is shown as it ends
  await page.getByRole('button', { name: 'Scene 2', exact: true }).click();
  await studio.idle();
  expect((await studio.pose()).l_hip_pitch).toBeCloseTo(-50 * degree, 6);

  await page.getByRole('button', { name: 'To the start' }).click();
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => studio.get('playing')).toBe(false);
  expect(await studio.get('time')).toBe(2.5);

  // a pose is changed once: both of its scenes are others
  await page.getByRole('button', { name: /^stand/ }).first().click();
  await studio.setJoint('l_hip_pitch', -20);
  expect(await studio.q('l_hip_pitch', 0.5)).toBeCloseTo(-20 * degree, 6);
  expect(await studio.q('l_hip_pitch', 2.5)).toBeCloseTo(-20 * degree, 6);
});

test('curves are those of the mathematics', async ({ start, studio, folder }) => {
  // t = 0, 1, 2, 4 and y = 0, 1, 0, 2: values that SciPy gives for these splines at 0.5, 1.5 and 3
  const golden = {
    natural: [0.72826087, 0.565217391, 0.347826087],
    clamped: [0.482954545, 0.585227273, 0.863636364],
    monotone: [0.75, 0.5, 0.416666667],
  };
  const joints = { natural: 'head_yaw', clamped: 'l_elbow_roll', monotone: 'r_elbow_roll' };
  const track = (ease: keyof typeof golden) =>
    `      ${joints[ease]}: {keys: [{t: 0, y: 0, ease: ${ease}}, {t: 1, y: 1, ease: ${ease}}, {t: 2, y: 0, ease: ${ease}}, {t: 4, y: 2, ease: ${ease}}]}`;
  const tracks = Object.keys(golden).map((ease) => track(ease as keyof typeof golden));
  const text = `${HEAD}units: {angle: rad}\nmotions:\n  curves:\n    tracks:\n${tracks.join('\n')}\n`;
  writeFileSync(folder.file('curves.yaml'), text);
  await start('curves.yaml');
  for (const [ease, values] of Object.entries(golden)) {
    for (const [i, time] of [0.5, 1.5, 3].entries()) {
      const q = await studio.q(joints[ease as keyof typeof golden], time);
      expect(Math.abs(q - (values[i] ?? Number.NaN)), `${ease} at ${time} s`).toBeLessThan(1e-6);
    }
  }
});

test('one drag is one step, and fifty edits are taken back to the byte', async ({ start, studio, page, folder }) => {
  test.setTimeout(60_000);
  const text = `${HEAD}units: {angle: deg}\nposes:\n  stand: {l_hip_pitch: -10, r_hip_pitch: -10}\n`;
  writeFileSync(folder.file('stand.yaml'), text);
  await start('stand.yaml');
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Saved stand.yaml')).toBeVisible();
  const saved = readFileSync(folder.file('stand.yaml'));

  const slider = studio.slider('head_yaw');
  const box = await slider.boundingBox();
  if (!box) throw new Error('the slider is not shown');
  const rev = await studio.get('rev');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.8 * box.width, box.y + box.height / 2, { steps: 12 });
  await page.mouse.up();
  await studio.idle();
  expect(await studio.get('rev')).toBe(rev + 1);
  expect(Math.abs((await studio.pose()).head_yaw ?? 0)).toBeGreaterThan(0.3);
  await page.keyboard.press('Control+z');
  await studio.idle();
  expect((await studio.pose()).head_yaw).toBe(0);

  // edits in a random order, the same in each run (Park and Miller's generator)
  let seed = 20_261;
  const pick = <T>(list: T[]): T => {
    seed = (seed * 48_271) % 2_147_483_647;
    return list[seed % list.length] as T;
  };
  const joints = Object.keys(await studio.pose());
  const nudge = async () => {
    await studio.slider(pick(joints)).focus();
    await page.keyboard.press(pick(['ArrowLeft', 'ArrowRight', 'Shift+ArrowLeft', 'Shift+ArrowRight']));
  };
  const edits = [
    nudge,
    nudge,
    () => page.getByRole('button', { name: 'Duplicate stand', exact: true }).click(),
    () => page.getByRole('button', { name: 'Mirror', exact: true }).click(),
    () => page.getByRole('button', { name: 'New motion' }).click(),
    async () => {
      await page.getByRole('button', { name: 'Add scene' }).click();
      await studio.idle();
      const time = page.getByRole('textbox', { name: /^Time of scene/ }).last();
      await time.fill(pick(['0.25', '0.75', '1.5']));
      await time.press('Enter');
    },
  ];
  const begun = await studio.get('rev');
  await page.getByRole('button', { name: 'New motion' }).click();
  for (let n = 1; n < 50; n = (await studio.get('rev')) - begun) {
    await pick(edits)();
    await studio.idle();
  }
  for (let i = 0; i < 60; i++) {
    if ((await page.getByRole('button', { name: /^Undo/ }).isDisabled()) === true) break;
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('Control+z');
    await studio.idle();
  }
  expect(await studio.get('rev')).toBeGreaterThanOrEqual(begun + 100);
  await page.keyboard.press('Control+s');
  await studio.idle();
  expect(readFileSync(folder.file('stand.yaml'))).toEqual(saved);
});

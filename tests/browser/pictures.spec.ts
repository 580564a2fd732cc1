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

test('the picture of the arm of springs', async ({ start, studio, page, folder }) => {
  // a processor draws it in full
  test.setTimeout(120_000);
  mkdirSync(out, { recursive: true });
  folder.write('arm.yaml', ARM);
  await start('arm.yaml');
  await page.getByRole('button', { name: 'Low detail' }).click();
  await studio.tab('Panels').click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await studio.tab('Run').click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await studio.tab('Panels').click();
  // from the side, and far enough for the cone
  await page.getByRole('button', { name: 'Right', exact: true }).click();
  await page.mouse.move(560, 300);
  for (let i = 0; i < 3; i++) await page.mouse.wheel(0, 120);
  await page.waitForFunction(() => (window.__studio?.frames ?? 0) > 40);
  // what stands is drawn sharp
  await studio.tab('Run').click();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await studio.tab('Panels').click();
  await studio.idle();
  await page.screenshot({ path: join(out, 'studio_arm.png') });
});

/** The arm of docs/tutorials/studio-arm.md. */
const ARM = `karakuri_motion: 1
scene:
  bodies:
    upper: {shape: {box: [0.2, 0.03, 0.03]}, mass: 0.2, pose: {xyz: [0.1, 0, 0.5], rpy: [0, 0, 0]}, color: [0.9, 0.6, 0.1]}
    fore: {shape: {box: [0.2, 0.03, 0.03]}, mass: 0.1, pose: {xyz: [0.3, 0, 0.5], rpy: [0, 0, 0]}, color: [0.2, 0.55, 0.8]}
  joints:
    upper_hinge: {a: world, b: upper, type: hinge, axis: [0, 1, 0], pose: {xyz: [0, 0, 0.5]}, bushing: {angular_stiffness: [4, 4, 4], angular_damping: [0.02, 0.02, 0.02]}}
    fore_hinge: {a: upper, b: fore, type: hinge, axis: [0, 1, 0], pose: {xyz: [0.1, 0, 0]}, bushing: {angular_stiffness: [4, 4, 4], angular_damping: [0.02, 0.02, 0.02]}}
  springs:
    fore_spring: {a: {part: world, point: [0.3, 0, 0.7]}, b: {part: fore, point: [0, 0, 0]}, stiffness: 5, damping: 0.5, rest_length: 0.2}
panels:
  - title: arm
    widgets:
      - {slider: joints.upper_hinge.angular_stiffness.z, min: 0, max: 20}
      - {slider: fore.mass, min: 0.05, max: 0.5}
      - {plot: [script.height]}
      - {cone: {link: fore, angle: 0.35}}
scripts:
  drive: |
    fn step(s) {
      s.push("fore", [0.0, 0.0, 3.0 * (4.0 * s.time).sin()]);
      s.plot("height", s.body("fore").position[2]);
    }
`;

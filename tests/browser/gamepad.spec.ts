// A gamepad: what is held moves what is edited, and nothing else does.

import { writeFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from './support/test';

const MOTION = `karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
units: {angle: deg}
poses:
  stand: {r_elbow_roll: -40}
  bow: {from: stand, l_hip_pitch: -40, r_hip_pitch: -40}
motions:
  greet:
    start: {pose: stand, support: both}
    scenes:
      - {pose: stand, time: 60}
gamepad:
  - {axis: 0, dead_zone: 0.2, joint: head_yaw, speed: 60}
  - {axis: 3, link: r_gripper, direction: [0, 0, 1], speed: -0.03}
  - {button: 0, pose: bow, speed: 2}
  - {button: 9, action: play}
`;

interface Pad {
  axes: number[];
  buttons: { value: number }[];
}
declare global {
  interface Window {
    pad: Pad;
  }
}

/** Puts a gamepad in the page's hands. */
async function connect(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const buttons = Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 }));
    window.pad = { axes: [0, 0, 0, 0], buttons };
    const pad = { ...window.pad, id: 'Pad of a test', index: 0, connected: true, mapping: 'standard', timestamp: 0 };
    navigator.getGamepads = () => [null, pad as unknown as Gamepad];
  });
}

const axis = (page: Page, n: number, value: number) => page.evaluate(([i = 0, v = 0]) => (window.pad.axes[i] = v), [n, value]);
const button = (page: Page, n: number, value: number) =>
  page.evaluate(([i = 0, v = 0]) => {
    const one = window.pad.buttons[i];
    if (one) one.value = v;
  }, [n, value]);
/** Time in which a movement would be seen. */
const wait = (page: Page) => page.evaluate(() => new Promise((done) => setTimeout(done, 150)));

test.beforeEach(async ({ folder, page }) => {
  writeFileSync(folder.file('greet.yaml'), MOTION);
  await connect(page);
});

test('a stick turns a joint as long as it is held, as one step', async ({ start, studio, page }) => {
  await start('greet.yaml');
  await page.getByRole('button', { name: /^stand/ }).first().click();
  await studio.idle();
  const [rev, yaw] = [await studio.get('rev'), async () => (await studio.pose()).head_yaw ?? Number.NaN];
  await axis(page, 0, 0.15);
  await wait(page);
  expect(await yaw(), 'within the dead zone').toBe(0);

  await axis(page, 0, 1);
  await expect.poll(yaw).toBeGreaterThan(0.15);
  await axis(page, 0, 0);
  await studio.idle();
  const there = await yaw();
  await wait(page);
  expect(await yaw()).toBe(there);
  expect(await studio.get('rev')).toBe(rev + 1);

  // held while nobody looks, it stops; and it goes to the limit, not beyond
  const hide = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await axis(page, 0, -1);
  await expect.poll(yaw).toBeLessThan(0);
  await hide(true);
  await studio.idle();
  const hidden = await yaw();
  await wait(page);
  expect(await yaw()).toBe(hidden);
  await hide(false);
  await expect.poll(yaw).toBeLessThan(hidden);
  await axis(page, 0, 0);
  await studio.idle();
  for (let i = 0; i < 3; i++) await page.keyboard.press('Control+z');
  await studio.idle();
  expect(await yaw()).toBe(0);
});

test('a button brings a pose, a stick lifts a hand, and another button plays', async ({ start, studio, page }) => {
  await start('greet.yaml');
  await page.getByRole('button', { name: /^stand/ }).first().click();
  await studio.idle();
  const degrees = async (joint: string) => (((await studio.pose())[joint] ?? Number.NaN) * 180) / Math.PI;
  const rev = await studio.get('rev');
  await button(page, 0, 1);
  await expect.poll(() => degrees('l_hip_pitch')).toBeCloseTo(-40, 6);
  await button(page, 0, 0);
  await studio.idle();
  expect(await degrees('r_hip_pitch')).toBeCloseTo(-40, 6);
  expect(await degrees('r_elbow_roll')).toBeCloseTo(-40, 6);
  expect(await studio.get('rev')).toBe(rev + 1);

  await studio.tab('Balance').click();
  const hand = async () => (await studio.link('r_gripper'))[2];
  const low = await hand();
  // pushed away from the user, sticks say less than zero
  await axis(page, 3, -1);
  await expect.poll(hand).toBeGreaterThan(low + 0.004);
  await axis(page, 3, 0);
  await studio.idle();
  expect(await studio.get('rev')).toBe(rev + 2);
  // however long it is held, the target stays near the hand
  expect((await studio.ik())?.position_error).toBeLessThan(0.005);

  await button(page, 9, 1);
  await expect.poll(() => studio.get('playing')).toBe(true);
  await wait(page);
  await button(page, 9, 0);
  expect(await studio.get('playing'), 'one press, one time').toBe(true);
});

test('inputs are added by moving them, and say what they do', async ({ start, studio, page }) => {
  await start('greet.yaml');
  await studio.tab('Gamepad').click();
  await expect(page.getByText('Pad of a test')).toBeVisible();
  const mapping = async () => (await studio.get('document'))?.gamepad ?? [];
  await button(page, 5, 1);
  await wait(page);
  await button(page, 5, 0);
  await page.getByRole('button', { name: 'Add an input' }).click();
  await studio.idle();
  expect((await mapping()).at(-1)).toEqual({ button: 5, joint: 'head_yaw' });
  await page.getByRole('combobox', { name: 'What input 5 does' }).selectOption({ label: 'Stop the robot' });
  await studio.idle();
  expect((await mapping()).at(-1)).toEqual({ button: 5, action: 'stop' });
  const speed = page.getByRole('textbox', { name: 'Axis 0 Speed' });
  await expect(speed).toHaveValue(/^60/);
  await speed.fill('90');
  await speed.press('Enter');
  await studio.idle();
  expect((await mapping())[0]).toEqual({ axis: 0, dead_zone: 0.2, joint: 'head_yaw', speed: 90 });
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')).toEqual([]);
  for (let i = 0; i < 3; i++) {
    await page.getByRole('button', { name: /^Undo/ }).click();
    await studio.idle();
  }
  expect(await mapping()).toHaveLength(4);
});

// Story 10, beside a robot: `tests/launch/test_studio_page.py` starts khr1 behind its emulated boards, and says where its studio is.

import { expect, StudioPage, test } from './support/test';

const ADDRESS = process.env.KARAKURI_STUDIO ?? '';
const DEGREE = Math.PI / 180;
/** Greatest speed of the joint, and the part of it that is asked for. [rad/s], [-] */
const LIMIT = 6.1;
const PART = 0.05;

test('a robot is readied, follows, is stopped by anyone, holds when its page goes, and is taught', async ({ browser, contextOptions }) => {
  test.setTimeout(120_000);
  const open = async (): Promise<StudioPage> => {
    const context = await browser.newContext({ ...contextOptions, viewport: { width: 1280, height: 800 } });
    const studio = new StudioPage(await context.newPage());
    await studio.open(ADDRESS);
    await studio.tab('Robot').click();
    return studio;
  };
  const pane = (studio: StudioPage) => studio.page.locator('#right-pane');
  const button = (studio: StudioPage, name: string) => pane(studio).getByRole('button', { name, exact: true });
  const mode = async (studio: StudioPage) => (await studio.get('live'))?.mode;
  const head = async (studio: StudioPage) => (await studio.get('measured'))?.head_yaw ?? Number.NaN;
  const apart = async (studio: StudioPage) => {
    const [pose, measured] = [await studio.pose(), await studio.get('measured')];
    return Math.max(...Object.entries(measured ?? { none: Number.NaN }).map(([joint, at]) => Math.abs(at - (pose[joint] ?? Number.NaN)))) / DEGREE;
  };

  // both before anything moves: a page that is opened takes all processors, and one that is silent stops the robot
  const [first, second] = [await open(), await open()];
  await expect.poll(() => mode(first), { timeout: 20_000 }).toBe('watching');
  await expect.poll(() => head(first), { timeout: 20_000 }).not.toBeNaN();

  // a verdict first, and again after an edit
  const ready = async (studio: StudioPage) => {
    await expect(button(studio, 'Ready the robot')).toBeDisabled();
    await studio.page.getByRole('button', { name: 'Preview', exact: true }).click();
    await button(studio, 'Ready the robot').click({ timeout: 20_000 });
    await expect.poll(() => mode(studio)).toBe('armed');
  };
  await ready(first);

  // it follows a pose no faster than it is told, to within two degrees
  await pane(first)
    .getByRole('slider', { name: /^Speed/ })
    .fill(String(100 * PART));
  await button(first, 'Send pose').click();
  await expect.poll(() => mode(first), { timeout: 20_000 }).toBe('armed');
  await button(first, 'Follow').click();
  await first.tab('Joints').click();
  const begun = Date.now();
  const from = await head(first);
  await first.setJoint('head_yaw', 30);
  await expect.poll(() => head(first), { timeout: 20_000 }).toBeGreaterThan(28 * DEGREE);
  expect(await head(first)).toBeLessThan(31 * DEGREE);
  expect(((await head(first)) - from) / ((Date.now() - begun) / 1000)).toBeLessThan(1.05 * PART * LIMIT);
  await expect.poll(() => apart(first), { timeout: 10_000 }).toBeLessThan(2);

  // another page sees all of it, and can only stop
  await expect.poll(() => mode(second)).toMatch(/following|armed/);
  await expect.poll(() => head(second)).toBeGreaterThan(28 * DEGREE);
  await expect(button(second, 'Send pose')).toBeDisabled();
  await expect(button(second, 'Follow')).toBeDisabled();
  await first.setJoint('head_yaw', -60);
  await expect.poll(() => mode(second)).toBe('following');
  const pictures = process.env.KARAKURI_PICTURES;
  if (pictures !== undefined) await first.page.screenshot({ path: `${pictures}/studio_robot.png` });
  await second.page.getByRole('button', { name: 'STOP' }).click();
  await expect.poll(() => mode(first)).toBe('stopped');
  const stopped = await head(second);
  await second.page.waitForTimeout(700);
  expect(Math.abs((await head(second)) - stopped)).toBeLessThan(4 * DEGREE);
  expect(await head(second)).toBeGreaterThan(-50 * DEGREE);

  // a page that goes leaves a robot that holds
  await first.tab('Robot').click();
  await ready(first);
  await button(first, 'Send pose').click();
  await expect.poll(() => mode(second)).toBe('moving');
  await first.page.context().close();
  await expect.poll(() => mode(second), { timeout: 3000, intervals: [20] }).toBe('stopped');
  const held = await head(second);
  await second.page.waitForTimeout(1000);
  expect(Math.abs((await head(second)) - held)).toBeLessThan(4 * DEGREE);
  expect(await head(second)).toBeGreaterThan(-58 * DEGREE);

  // where it is now becomes a pose
  await second.page.getByRole('button', { name: /Take (it|over)/ }).click();
  const taken = (await second.get('measured')) ?? {};
  await button(second, 'New pose as measured').click();
  await second.idle();
  const selection = await second.get('selection');
  if (selection.kind !== 'pose') throw new Error('the new pose is not selected');
  const pose = (await second.get('document'))?.poses[selection.name]?.joints ?? {};
  for (const [joint, at] of Object.entries(taken)) expect(Math.abs((pose[joint] ?? Number.NaN) - at / DEGREE), joint).toBeLessThan(0.6);

  // what is shown to it is recorded, and becomes a motion: here it is moved by itself, as it has no hands beside it
  await ready(second);
  const begin = await head(second);
  // to the other side, wherever it stopped
  const target = begin > 0 ? -20 : 20;
  await button(second, 'Record by hand').click();
  await expect.poll(async () => (await second.get('live'))?.recording).toBe(true);
  await second.tab('Joints').click();
  await second.setJoint('head_yaw', target);
  await second.tab('Robot').click();
  await button(second, 'Send pose').click();
  await expect.poll(async () => Math.abs((await head(second)) - target * DEGREE), { timeout: 20_000 }).toBeLessThan(1.5 * DEGREE);
  await button(second, 'Record by hand').click();
  await expect.poll(() => second.get('motion')).toBe('taught');
  await second.idle();
  const keys = (await second.get('document'))?.motions.taught?.tracks.head_yaw?.keys ?? [];
  expect(keys.length).toBeGreaterThan(1);
  expect(keys.length).toBeLessThan(40);
  expect(Math.abs((await second.q('head_yaw', 0)) - begin)).toBeLessThan(2 * DEGREE);
  expect(Math.abs((await second.q('head_yaw', keys.at(-1)?.t ?? 0)) - target * DEGREE)).toBeLessThan(2 * DEGREE);
  expect(first.complaints.concat(second.complaints)).toEqual([]);
  await second.page.context().close();
});

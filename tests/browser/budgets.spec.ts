// What the page may take. Others may use the machine: of some, the fastest counts.

import { writeFileSync } from 'node:fs';
import { expect, test } from './support/test';

const HEAD = `karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
units: {angle: deg}
poses:
  stand: {}
  bow: {l_hip_pitch: -40, r_hip_pitch: -40, head_yaw: 30}
motions:
  greet:
    start: {pose: stand, support: both}
    scenes:
      - {pose: bow, time: 1}
      - {pose: stand, time: 1}
`;

/** Times that are near what a small machine can are asked for with KARAKURI_BUDGETS=1; without, what only a fault makes of them fails. */
const SLACK = process.env.KARAKURI_BUDGETS === undefined ? 5 : 1;

/** A hundred boxes around the robot. */
const CROWD = Array.from({ length: 100 }, (_, i) => {
  const [angle, radius] = [0.5 * i, 0.25 + 0.004 * i];
  const [x, y] = [Math.cos(angle) * radius, Math.sin(angle) * radius].map((value) => value.toFixed(3));
  return `    box_${i}: {mass: 0.1, shape: {box: [0.03, 0.03, 0.03]}, pose: {xyz: [${x}, ${y}, 0.015]}}\n`;
}).join('');

/** Time that a motion plays while its memory is watched; longer on request. [s] */
const PLAYED = Number(process.env.KARAKURI_PLAYED ?? 6);

test('the first frame is there three seconds after the address is opened', async ({ start, browser, studio }) => {
  const server = await start();
  const times: number[] = [];
  for (let i = 0; i < 2; i++) {
    // nothing is kept from the visit before
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(server.address);
    await page.waitForFunction(() => window.__studio?.ready === true, undefined, { polling: 10 });
    times.push(await page.evaluate(() => performance.now()));
    await context.close();
  }
  console.log(`first frame after ${times.map((time) => time.toFixed(0)).join(', ')} ms, ${(await studio.get('inSoftware')) ? 'in software' : 'by a graphics card'}`);
  expect(Math.min(...times)).toBeLessThan(3000);
});

test('an edit is drawn within 50 ms', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('greet.yaml'), HEAD);
  await start('greet.yaml');
  await page.getByRole('button', { name: /^bow/ }).first().click();
  await studio.idle();
  await studio.slider('head_yaw').focus();
  const times: number[] = [];
  for (let degrees = 31; degrees < 41; degrees++) {
    const aim = (degrees * Math.PI) / 180;
    const drawn = await studio.clock(
      `(studio) => Math.abs(studio.pose().head_yaw - ${aim}) < 1e-6 && studio.frames > ${await studio.get('frames')}`,
    );
    await page.keyboard.press('ArrowRight');
    times.push(await drawn());
    await studio.idle();
    // a processor may still draw the sharp picture
    await page.waitForTimeout(100);
  }
  console.log(`an edit is drawn after ${times.map((time) => time.toFixed(0)).join(', ')} ms`);
  expect(Math.max(...times)).toBeLessThan(50 * SLACK);
});

test('a robot among a hundred bodies moves smoothly', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('crowd.yaml'), `${HEAD}scene:\n  bodies:\n${CROWD}`);
  await start('crowd.yaml');
  expect(await studio.get('inSoftware'), 'low detail is for software').toBe(true);
  await page.getByRole('button', { name: 'Loop' }).click();
  await page.getByRole('button', { name: 'Play' }).click();
  const rates = await page.evaluate(async () => {
    const all: number[] = [];
    for (let i = 0; i < 4; i++) {
      const [begun, frames] = [performance.now(), window.__studio?.frames ?? 0];
      await new Promise((done) => setTimeout(done, 700));
      all.push((1000 * ((window.__studio?.frames ?? 0) - frames)) / (performance.now() - begun));
    }
    return all;
  });
  console.log(`18 links and 100 bodies in low detail: ${rates.map((rate) => rate.toFixed(0)).join(', ')} frames/s`);
  expect(Math.max(...rates)).toBeGreaterThan(30 / SLACK);
});

test('memory stays flat while a motion plays', async ({ start, studio, page, folder }) => {
  test.setTimeout(60_000 + 1000 * PLAYED);
  writeFileSync(folder.file('greet.yaml'), HEAD);
  await start('greet.yaml');
  await page.getByRole('button', { name: 'Loop' }).click();
  await page.getByRole('button', { name: 'Play' }).click();
  const session = await page.context().newCDPSession(page);
  const used = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return usedSize;
  };
  const play = (seconds: number) => page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), 1000 * seconds);
  await play(3);
  const before = await used();
  const frames = await studio.get('frames');
  await play(PLAYED);
  const grown = (await used()) - before;
  const rate = ((await studio.get('frames')) - frames) / PLAYED;
  console.log(`heap ${(before / 1e6).toFixed(1)} MB, ${(grown / 1e3).toFixed(0)} kB more after ${PLAYED} s, ${rate.toFixed(0)} frames/s`);
  expect(before).toBeLessThan(150e6);
  expect(grown).toBeLessThan(1e6);
  expect(rate).toBeGreaterThan(5);
});

// Story 9: files of other programs, broken files, crashes.

import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { ROOT } from '../support/server';
import { expect, test } from '../support/test';

const MOTION = `karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
units: {angle: deg}
poses:
  stand: {}
motions:
  greet:
    scenes:
      - {pose: stand, time: 0.5}
`;

const WEBOTS = `#WEBOTS_MOTION,V1.0,head_yaw,l_elbow_roll
00:00:000,Pose1,0,0
00:00:500,Pose2,0.5,*
00:01:000,Pose3,0,-0.25
`;

/** Times on frames of 15 ms and on the page's samples, 60 a second. [s] */
const TIMES = [0, 0.3, 0.45, 0.6, 0.75, 0.9];

async function importFile(page: Page, name: string, text: string): Promise<void> {
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
}

/** Angles without the rounding of degrees to radians and back. [1e-9 rad] */
function rounded(table: string): string {
  return table.replace(/-?\d+\.\d+/g, (number) => String(Number(Number(number).toFixed(9)) + 0));
}

/** The motion that is shown, in a format. */
async function exported(page: Page, format: string): Promise<string> {
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: format, exact: true }).click(),
  ]);
  const text = readFileSync(await download.path(), 'utf8');
  await page.getByRole('button', { name: 'Close' }).first().click();
  return text;
}

test('a motion of Webots comes in, goes out, and is the same', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('greet.yaml'), MOTION);
  await start('greet.yaml');
  await importFile(page, 'nod.motion', WEBOTS);
  await expect(page.getByRole('dialog', { name: /Imported nod.motion/ })).toBeVisible();
  await page.getByRole('button', { name: 'Close' }).first().click();
  await studio.idle();
  const name = await studio.get('motion');
  expect(name).not.toBe('greet');
  expect(await studio.q('head_yaw', 0.5)).toBeCloseTo(0.5, 6);
  expect(await studio.q('l_elbow_roll', 1)).toBeCloseTo(-0.25, 6);

  const before = await Promise.all(TIMES.map((time) => studio.q('head_yaw', time)));
  const text = await exported(page, 'webots');
  expect(text).toContain('#WEBOTS_MOTION,V1.0');

  await importFile(page, 'again.motion', text);
  await expect(page.getByRole('dialog', { name: /Imported again.motion/ })).toBeVisible();
  await page.getByRole('button', { name: 'Close' }).first().click();
  await studio.idle();
  for (const [i, time] of TIMES.entries()) expect(await studio.q('head_yaw', time)).toBeCloseTo(before[i] ?? Number.NaN, 6);
  expect(rounded(await exported(page, 'webots'))).toBe(rounded(text));
});

/** 24 channels, these of them with values, the others with `rest`. */
function channels(values: { [channel: number]: number }, rest: string): string {
  return Array.from({ length: 24 }, (_, i) => values[i + 1] ?? rest).join(',');
}

/** Positions as their scenes end, after which the motion stands. [rad] */
const LAST = 60;

test('a table of a KHR-1 and a chart of HeartToHeart come in with what was guessed', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('greet.yaml'), MOTION);
  // which channel turns which joint
  cpSync(join(ROOT, 'config/hardware/khr1.yaml'), folder.file('config/hardware/khr1.yaml'), { recursive: true });
  await start('greet.yaml');
  const take = async (name: string, text: string, said = '') => {
    await importFile(page, name, text);
    await expect(page.getByRole('dialog', { name: `Imported ${name}` })).toContainText(said);
    await page.getByRole('button', { name: 'Close' }).first().click();
    await studio.idle();
  };
  const degrees = async (joint: string) => ((await studio.q(joint, LAST)) * 180) / Math.PI;

  const names = Array.from({ length: 24 }, (_, i) => `CH${i + 1}`);
  const table = `NO,NAME,SPEED,${names}\r\n0,home,4,${channels({ 14: 0, 15: 0 }, '')}\r\n1,bow,5,${channels({ 14: -30, 15: 10, 4: 7 }, '')}\r\n`;
  await take('bow.csv', table, 'channel 4 turns no joint');
  expect(await degrees('l_hip_pitch')).toBeCloseTo(-30, 4);
  // its servo is mounted the other way round
  expect(await degrees('l_knee_pitch')).toBeCloseTo(-10, 4);
  const text = await exported(page, 'khr1-csv');
  await take('again.csv', text);
  expect(await degrees('l_hip_pitch')).toBeCloseTo(-30, 4);
  expect(await exported(page, 'khr1-csv')).toBe(text);

  // 128 counts are 45 degrees, and 20 frames of 15 ms 0.3 s
  const item = (n: number, name: string, time: number, values: { [channel: number]: number }) =>
    `[Item${n}]\r\nName=${name}\r\nType=0\r\nPrm=${time},${channels(values, '16384')}\r\n`;
  const chart = `[GraphicalEdit]\r\nType=0\r\nItems=2\r\nLinks=1\r\nStart=0\r\nName=nod\r\n${item(0, 'up', 10, {})}${item(1, 'aside', 20, { 6: 16384 + 128 })}[Link0]\r\nMain=1\r\nOrigin=0\r\nFinal=1\r\nPoint=0\r\n`;
  const rev = await studio.get('rev');
  await take('nod.RCB', chart);
  expect(await degrees('head_yaw')).toBeCloseTo(-45, 4);
  expect((await studio.get('document'))?.motions[(await studio.get('motion')) ?? '']?.scenes.at(-1)?.time).toBeCloseTo(0.3, 9);

  await importFile(page, 'broken.RCB', chart.replace('Prm=20,', 'Prm=x,'));
  await expect(page.getByRole('log', { name: 'Notices' })).toContainText(/broken\.RCB:\d+/);
  expect(await studio.get('rev')).toBe(rev + 1);
});

test('a broken file is refused with its line, and changes nothing', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('greet.yaml'), MOTION);
  await start('greet.yaml');
  const rev = await studio.get('rev');
  await importFile(page, 'nod.motion', WEBOTS.replace('0.5,*', 'half,*'));
  await expect(page.getByRole('log', { name: 'Notices' })).toContainText(/3/);
  expect(await studio.get('rev')).toBe(rev);
});

test('what was not saved is offered after a crash', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('greet.yaml'), MOTION);
  const server = await start('greet.yaml');
  await page.getByRole('button', { name: /^stand/ }).first().click();
  await studio.setJoint('head_yaw', 20);
  // the journal reaches the disk once a second
  await expect.poll(() => existsSync(join(folder.path, 'greet.yaml')), { timeout: 5000 }).toBe(true);
  await page.evaluate(() => new Promise((done) => setTimeout(done, 1500)));
  await server.kill();
  await expect(page.getByRole('alert')).toContainText('does not answer');
  await start('greet.yaml');
  await expect(page.getByRole('alert')).toContainText('not saved');
  await page.getByRole('button', { name: 'Take them up' }).click();
  await studio.idle();
  expect((await studio.get('document'))?.poses.stand?.joints.head_yaw).toBe(20);
});

test('a file that changed on disk is not overwritten without a word', async ({ start, studio, page, folder }) => {
  writeFileSync(folder.file('greet.yaml'), MOTION);
  await start('greet.yaml');
  await page.getByRole('button', { name: /^stand/ }).first().click();
  await studio.setJoint('head_yaw', 20);
  writeFileSync(folder.file('greet.yaml'), `${MOTION}# mine\n`);
  await page.keyboard.press('Control+s');
  await expect(page.getByRole('log', { name: 'Notices' })).toContainText(/disk/);
  expect(readFileSync(folder.file('greet.yaml'), 'utf8')).toContain('# mine');
});

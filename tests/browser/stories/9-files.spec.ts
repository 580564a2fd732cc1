// Story 9: files of other programs, broken files, crashes.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
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

/** The motion that is shown, in the format of Webots. */
async function exported(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /webots/i }).click(),
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
  const text = await exported(page);
  expect(text).toContain('#WEBOTS_MOTION,V1.0');

  await importFile(page, 'again.motion', text);
  await expect(page.getByRole('dialog', { name: /Imported again.motion/ })).toBeVisible();
  await page.getByRole('button', { name: 'Close' }).first().click();
  await studio.idle();
  for (const [i, time] of TIMES.entries()) expect(await studio.q('head_yaw', time)).toBeCloseTo(before[i] ?? Number.NaN, 6);
  expect(rounded(await exported(page))).toBe(rounded(text));
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

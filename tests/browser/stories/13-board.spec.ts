// Story 13: a motion goes into the memory of a KHR-1's boards, and the boards play it.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { PROGRAM, ROOT } from '../support/server';
import { expect, test } from '../support/test';

const HARDWARE = 'config/hardware/khr1.yaml';

/** Emulated boards at a pseudo-terminal. */
async function boards(link: string): Promise<ChildProcess> {
  const child = spawn(PROGRAM, ['emulate', 'rcb1', '--pty', link], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((ready, failed) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (line.startsWith('ready: ')) ready();
    });
    child.on('exit', (code) => failed(new Error(`the emulator ended with ${code}`)));
  });
  return child;
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((ended) => {
    child.on('exit', () => ended());
    child.kill('SIGINT');
  });
}

test('a motion is uploaded to boards once it was previewed, and read back', async ({ start, studio, page, folder }) => {
  const link = folder.file('board');
  mkdirSync(folder.file('config/hardware'));
  cpSync(`${ROOT}/${HARDWARE}`, folder.file(HARDWARE));
  mkdirSync(folder.file('config/motions'));
  cpSync(`${ROOT}/config/motions/khr1_greet.yaml`, folder.file('config/motions/greet.yaml'));
  const child = await boards(link);
  await start('config/motions/greet.yaml', ['--board', link]);
  await studio.tab('Robot').click();
  const pane = page.locator('#right-pane');
  const upload = pane.getByRole('button', { name: 'Upload', exact: true });
  await expect(pane).toContainText(link);
  await expect(upload).toBeDisabled();
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  const field = pane.getByRole('textbox', { name: 'Motion number' });
  await field.fill('5');
  await field.press('Enter');
  await upload.click({ timeout: 20_000 });

  // what was rounded is listed, and the boards have it
  await expect(page.getByRole('dialog')).toContainText('rounded to whole degrees');
  await page.keyboard.press('Escape');
  await expect(pane.getByRole('status').last()).toHaveText('motion 5 of both boards has 6 positions, read back', { timeout: 20_000 });
  const pictures = process.env.KARAKURI_PICTURES;
  if (pictures !== undefined) await page.screenshot({ path: `${pictures}/studio_board.png` });
  const played = spawnSync(PROGRAM, ['hardware', 'play', 'rcb1', link, '5', '--yes'], { encoding: 'utf8' });
  expect(played.stderr).toContain('motion 5 was played in');

  // boards that are gone are named
  await stop(child);
  await upload.click();
  await page.keyboard.press('Escape');
  await expect(pane.getByRole('status').last()).toContainText(`there is no port ${link}`, { timeout: 20_000 });
});

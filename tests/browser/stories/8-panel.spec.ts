// Story 8: a panel and a script of one's own.

import { readFileSync } from 'node:fs';
import { expect, test } from '../support/test';

const MOTION = (script: string) => `karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
panels:
  - title: "<img src=x onerror=alert(1)>"
    widgets:
      - {text: "<b>not bold</b>"}
      - {slider: khr1.drives.l_knee_pitch.stiffness, min: 0, max: 40}
      - {plot: [script.arm]}
scripts:
  wave: |
${script
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
`;

test('a script waits to be allowed, waves the arm, and is plotted', async ({ start, studio, page, folder }) => {
  folder.write(
    'wave.yaml',
    MOTION('fn step(s) {\n  s.set_target("r_shoulder_pitch", -1.0 + 0.5 * (6.0 * s.time).sin());\n  s.plot("arm", s.q("r_shoulder_pitch"));\n}'),
  );
  await start('wave.yaml');
  await studio.tab('Panels').click();
  await expect(page.getByText('<b>not bold</b>')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('<img src=x onerror=alert(1)>');
  expect(await page.locator('aside img').count()).toBe(0);

  await page.getByRole('button', { name: 'Allow' }).click();
  await expect(page.getByText('Allowed', { exact: true })).toBeVisible();
  await studio.tab('Run').click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(async () => (await studio.pose()).r_shoulder_pitch ?? 0, { timeout: 20_000 }).toBeLessThan(-0.6);

  // a row a time step, of what the script plots as well
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await page.evaluate(() => new Promise((done) => setTimeout(done, 700)));
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'End recording' }).click()]);
  const [head = '', ...lines] = readFileSync(await download.path(), 'utf8').trim().split('\n');
  const [columns, rows] = [head.split(','), lines.map((line) => line.split(',').map(Number))];
  const [time, arm, joint] = ['time_s', 'script.arm', 'khr1.r_shoulder_pitch.q'].map((name) => columns.indexOf(name));
  expect([time, arm, joint]).not.toContain(-1);
  const at = (row: number, column = -1) => rows[row]?.[column] ?? Number.NaN;
  const [dt, duration] = [at(1, time) - at(0, time), at(rows.length - 1, time) - at(0, time)];
  expect(duration).toBeGreaterThan(0.2);
  expect(rows.length).toBe(Math.round(duration / dt) + 1);
  await expect(page.getByText(`Recorded ${rows.length} rows`)).toBeVisible();
  // the script reads the joint before the step that the row is of
  for (let row = 1; row < rows.length; row += 50) expect(at(row, arm)).toBeCloseTo(at(row - 1, joint), 6);

  await studio.tab('Panels').click();
  const inked = () =>
    page.locator('.plot canvas').evaluate((canvas: HTMLCanvasElement) => {
      const copy = document.createElement('canvas');
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const context = copy.getContext('2d', { willReadFrequently: true });
      context?.drawImage(canvas, 0, 0);
      const image = context?.getImageData(0, 0, copy.width, copy.height).data ?? [];
      // the first curve is sky blue: more blue than red
      let n = 0;
      for (let i = 0; i < image.length; i += 4) if ((image[i + 3] ?? 0) > 128 && (image[i + 2] ?? 0) > (image[i] ?? 0) + 60) n++;
      return n;
    });
  await expect.poll(inked).toBeGreaterThan(50);
});

test('an endless script stops with its line, and the simulation goes on', async ({ start, studio, page, folder }) => {
  folder.write('loop.yaml', MOTION('fn step(s) {\n  loop {\n    let x = 1;\n  }\n}'));
  await start('loop.yaml');
  await studio.tab('Panels').click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await expect(page.getByText('Allowed', { exact: true })).toBeVisible();
  await studio.tab('Run').click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await studio.tab('Panels').click();
  await expect(page.getByRole('alert')).toContainText(/Line [234]/);
  expect((await studio.get('run'))?.phase).toBe('running');
});

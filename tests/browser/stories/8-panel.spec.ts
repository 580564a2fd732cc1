// Story 8: a panel and a script of one's own.

import { expect, test } from '../support/test';

const MOTION = (script: string) => `karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
panels:
  - title: "<img src=x onerror=alert(1)>"
    widgets:
      - {text: "<b>not bold</b>"}
      - {slider: khr1.drives.l_knee_pitch.stiffness, min: 0, max: 40}
      - {plot: [arm]}
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

// Story 6: change numbers while the simulation runs.

import { expect, test } from '../support/test';

test('friction and stiffness change at once, and go back', async ({ start, studio, page }) => {
  await start();
  await studio.tab('Run').click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(async () => (await studio.get('run'))?.phase).toBe('running');

  await page.getByRole('textbox', { name: 'Filter parameters' }).fill('ground friction');
  const row = page.locator('[data-parameter="ground.friction"]');
  const field = row.getByRole('textbox');
  const before = await field.inputValue();
  await field.fill('0.1');
  await field.press('Enter');
  await expect(page.getByRole('button', { name: 'Reset ground.friction' })).toBeVisible();
  await expect(field).toHaveValue(/^0\.1/);

  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('Control+z');
  await expect(field).toHaveValue(before);

  await field.fill('-3');
  await field.press('Enter');
  await expect(page.getByRole('alert')).toContainText(/friction|least|range|from/i);
  await expect(field).toHaveAttribute('aria-invalid', 'true');

  await page.getByRole('textbox', { name: 'Filter parameters' }).fill('drives stiffness');
  await page.getByRole('combobox', { name: 'Scale all stiffness' }).selectOption('0.3');
  await expect(page.getByRole('button', { name: /^Reset khr1\.drives\..*stiffness/ })).toHaveCount(17);

  const digest = (await studio.get('run'))?.snapshots[0]?.digest;
  await page.getByRole('button', { name: 'Put back' }).click();
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect.poll(async () => (await studio.get('run'))?.phase).toBe('paused');
  expect(digest).toBeTruthy();
});

// Story 12: hands on the running simulation: pull with the mouse, see contact forces and energy, remember and rewind.

import { expect, test } from '../support/test';

const SCENE = `dt: 0.001
ground: {friction: 0.6}
bodies:
  - {name: crate, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, pose: {xyz: [0, 0, 0.1]}}
`;
/** Weight of the crate. [N] */
const WEIGHT = 2 * 9.81;

test.beforeEach(async ({ start, studio, page, folder }) => {
  folder.write('crate.yaml', SCENE);
  await start('crate.yaml');
  await studio.tab('Run').click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(async () => (await studio.get('run'))?.phase).toBe('running');
});

test('the mouse pulls by a spring, and lets go', async ({ studio, page }) => {
  const [x, y] = await page.evaluate(() => window.__studio?.project(0, 0, 0.12) ?? [0, 0]);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await expect.poll(() => studio.get('pulled')).toBe('crate');
  await page.mouse.move(x, y - 220, { steps: 10 });
  await expect.poll(async () => (await studio.body('crate'))[2], { message: 'it hangs' }).toBeGreaterThan(0.15);
  await page.mouse.up();
  expect(await studio.get('pulled')).toBeNull();
  await expect.poll(async () => (await studio.body('crate'))[2], { message: 'it falls back' }).toBeCloseTo(0.1, 3);

  // Escape lets go, too; the crate may have come down beside where it stood
  const [cx = 0, cy = 0, cz = 0] = await studio.body('crate');
  const [u, v] = await page.evaluate((at) => window.__studio?.project(...at) ?? [0, 0], [cx, cy, cz] as [number, number, number]);
  await page.mouse.move(u, v);
  await page.mouse.down();
  await expect.poll(() => studio.get('pulled')).toBe('crate');
  await page.keyboard.press('Escape');
  expect(await studio.get('pulled')).toBeNull();
  await page.mouse.up();
});

test('contact forces bear the weight, and the energy says where it went', async ({ studio, page }) => {
  const sum = async () => (await studio.get('forces')).reduce((total, newtons) => total + newtons, 0);
  await expect.poll(sum).toBeGreaterThan(0.99 * WEIGHT);
  await expect.poll(sum).toBeLessThan(1.01 * WEIGHT);
  await page.getByRole('button', { name: 'Forces', exact: true }).click();
  await expect.poll(sum).toBe(0);

  await page.getByText('Energy', { exact: true }).click();
  const joules = async (cause: string) => {
    const text = await page.locator(`[data-cause="${cause}"] td`).textContent();
    return Number(text?.replace(' J', '').replace('−', '-'));
  };
  await expect.poll(() => joules('potential')).toBeCloseTo(WEIGHT * 0.1, 2);
  // twice the mass at the same height: what it adds is work from outside
  await page.getByRole('textbox', { name: 'Filter parameters' }).fill('crate.mass');
  const field = page.locator('[data-parameter="crate.mass"]').getByRole('textbox');
  await field.fill('4');
  await field.press('Enter');
  await expect.poll(() => joules('potential')).toBeCloseTo(2 * WEIGHT * 0.1, 2);
  await expect.poll(() => joules('external')).toBeCloseTo(WEIGHT * 0.1, 2);
});

test('a state is remembered, and the run rewinds to it to the bit', async ({ studio, page }) => {
  await page.getByRole('button', { name: 'Remember' }).click();
  await studio.idle();
  await page.getByRole('textbox', { name: 'Filter parameters' }).fill('world.gravity');
  const field = page.locator('[data-parameter="world.gravity.z"]').getByRole('textbox');
  await field.fill('1');
  await field.press('Enter');
  await expect.poll(async () => (await studio.body('crate'))[2], { message: 'it rises' }).toBeGreaterThan(0.3);
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect.poll(async () => (await studio.get('run'))?.phase).toBe('paused');
  const kept = (await studio.get('run'))?.snapshots.find((one) => one.asked);
  await page.getByRole('button', { name: /^Back to/ }).click();
  await expect.poll(async () => (await studio.get('run'))?.digest).toBe(kept?.digest);
  await expect(field).toHaveValue(/^[−-]9\.81/);

  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const time = () => page.evaluate(() => Number(document.querySelector('.time strong')?.textContent));
  const from = await time();
  await expect.poll(time).toBeGreaterThan(from + 2.2);
  const before = await time();
  await page.getByRole('button', { name: '1 s back' }).click();
  await expect.poll(time).toBeLessThan(before - 0.5);
});

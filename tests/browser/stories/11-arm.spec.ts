// Story 11: an arm of links, hinges and springs from nothing; it is tuned while it swings, driven by a script, and looks around.

import type { Page } from '@playwright/test';
import { expect, type StudioPage, test } from '../support/test';

const SCRIPT = `fn step(s) {
  s.push("fore", [0.0, 0.0, 3.0 * (4.0 * s.time).sin()]);
  s.plot("height", s.body("fore").position[2]);
}`;

/** Types numbers into fields, each one step of undo. */
async function put(page: Page, studio: StudioPage, fields: { [label: string]: number }): Promise<void> {
  for (const [label, value] of Object.entries(fields)) {
    const field = page.getByRole('textbox', { name: label, exact: true });
    await field.fill(String(value));
    await field.press('Enter');
    await studio.idle();
  }
}

async function addLink(page: Page, studio: StudioPage, name: string, x: number, mass: number): Promise<void> {
  await page.getByRole('button', { name: 'Box', exact: true }).click();
  await studio.idle();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('textbox', { name: 'Name' }).press('Enter');
  await studio.idle();
  await put(page, studio, {
    [`${name} size x [mm]`]: 200,
    [`${name} size y [mm]`]: 30,
    [`${name} size z [mm]`]: 30,
    [`${name} position x [mm]`]: x,
    [`${name} position y [mm]`]: 0,
    [`${name} position z [mm]`]: 500,
    [`${name} mass [kg]`]: mass,
  });
}

/** Hinges the chosen link about y, at a place in the frame of what holds it, with a spring and damper. */
async function addHinge(page: Page, studio: StudioPage, link: string, to: string, x: number, z: number): Promise<void> {
  await page.getByRole('button', { name: 'Hinge', exact: true }).click();
  await studio.idle();
  const joint = `${link}_hinge`;
  if (to !== 'world') {
    await page.getByRole('combobox', { name: `${joint} end A` }).selectOption(to);
    await studio.idle();
  }
  await put(page, studio, {
    [`${joint} axis y`]: 1,
    [`${joint} axis z`]: 0,
    [`${joint} position x [mm]`]: x,
    [`${joint} position z [mm]`]: z,
    [`${joint} stiffness [N·m/rad]`]: 4,
    [`${joint} damping [N·m·s/rad]`]: 0.02,
  });
}

/** Highest and lowest place of a body over some time. [m] */
async function swing(studio: StudioPage, body: string, seconds: number): Promise<{ low: number; high: number }> {
  return studio.page.evaluate(
    ([name, span]) =>
      new Promise<{ low: number; high: number }>((done) => {
        const hook = window.__studio;
        const range = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };
        const begun = performance.now();
        const look = () => {
          const z = hook?.body(name as string)?.[2] ?? Number.NaN;
          range.low = Math.min(range.low, z);
          range.high = Math.max(range.high, z);
          if (performance.now() - begun > 1000 * (span as number)) done(range);
          else requestAnimationFrame(look);
        };
        look();
      }),
    [body, seconds] as const,
  );
}

/** Sets a slider of a panel. */
async function slide(page: Page, name: string, value: number): Promise<void> {
  await page.locator('.widget', { hasText: name }).getByRole('slider').evaluate((input, aim) => {
    (input as HTMLInputElement).value = String(aim);
    input.dispatchEvent(new Event('change', { bubbles: true }));
  }, value);
}

test('a spring-damper arm is built from nothing, swings, is tuned, driven and looks around', async ({ start, studio, page, folder }) => {
  test.setTimeout(90_000);
  folder.write('arm.yaml', 'karakuri_motion: 1\n');
  await start('arm.yaml');
  await studio.tab('Scene').click();
  await addLink(page, studio, 'upper', 100, 0.2);
  await addHinge(page, studio, 'upper', 'world', 0, 500);
  await addLink(page, studio, 'fore', 300, 0.1);
  await addHinge(page, studio, 'fore', 'upper', 100, 0);
  const joints = (await studio.get('document'))?.scene.joints;
  expect(joints?.fore_hinge).toMatchObject({ a: 'upper', b: 'fore', type: 'hinge', axis: [0, 1, 0], pose: { xyz: [0.1, 0, 0] } });
  expect(joints?.fore_hinge).toMatchObject({ bushing: { angular_stiffness: [4, 4, 4] } });
  await page.getByRole('button', { name: 'fore', exact: true }).click();
  await page.getByRole('button', { name: 'Spring', exact: true }).click();
  await studio.idle();
  await put(page, studio, { 'fore_spring stiffness [N/m]': 5 });

  // a panel of one's own: stiffness, mass, a plot and a cone of view
  await studio.tab('Panels').click();
  await page.getByRole('button', { name: 'Panel', exact: true }).click();
  await studio.idle();
  for (const name of ['joints.upper_hinge.angular_stiffness.z', 'fore.mass']) {
    await page.getByRole('textbox', { name: 'Parameter of a slider' }).or(page.getByRole('combobox', { name: 'Parameter of a slider' })).fill(name);
    await page.getByRole('button', { name: 'Slider', exact: true }).click();
    await studio.idle();
  }
  await page.getByRole('textbox', { name: 'Quantities to plot, with commas' }).fill('script.height');
  await page.getByRole('button', { name: 'Plot', exact: true }).click();
  await studio.idle();
  await page.getByRole('combobox', { name: 'Link or body of a cone' }).fill('fore');
  await page.getByRole('button', { name: 'Cone', exact: true }).click();
  await studio.idle();
  expect(await studio.get('cones')).toEqual([expect.closeTo((20 * Math.PI) / 180, 6)]);

  // a script drives it in each step
  await page.getByRole('button', { name: 'Script', exact: true }).click();
  await studio.idle();
  const text = page.getByRole('textbox', { name: 'script', exact: true });
  await text.fill(SCRIPT);
  await text.blur();
  await studio.idle();
  await page.getByRole('button', { name: 'Allow' }).click();
  await expect(page.getByText('Allowed', { exact: true })).toBeVisible();

  await studio.tab('Run').click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(async () => (await studio.get('run'))?.phase).toBe('running');
  await studio.tab('Panels').click();
  const soft = await swing(studio, 'fore', 1.5);
  expect(soft.high - soft.low).toBeGreaterThan(0.05);
  expect((await studio.get('run'))?.plots).toContain('script.height');

  // stiffer, it hangs higher and swings less; heavier, it hangs lower
  await slide(page, 'joints.upper_hinge.angular_stiffness.z', 8);
  await expect.poll(() => page.evaluate(() => window.__studio?.parameter('joints.upper_hinge.angular_stiffness.z'))).toBe(8);
  await expect.poll(async () => (await swing(studio, 'fore', 1)).low, { timeout: 20_000 }).toBeGreaterThan(soft.low + 0.02);
  const stiff = await swing(studio, 'fore', 1.57); // a period of the script
  await slide(page, 'fore.mass', 0.2);
  // 0.1 kg more at 0.3 m bends 8 N·m/rad by 0.037 rad: 11 mm
  const middle = ({ low, high }: { low: number; high: number }) => (low + high) / 2;
  await expect.poll(async () => middle(await swing(studio, 'fore', 1.57)), { timeout: 20_000 }).toBeLessThan(middle(stiff) - 0.008);

  // what was found is kept in the scene, as one step
  await studio.tab('Run').click();
  await page.getByRole('button', { name: /^Keep/ }).click();
  await studio.idle();
  const kept = (await studio.get('document'))?.scene;
  expect(kept?.bodies.fore).toMatchObject({ mass: 0.2 });
  expect(kept?.joints.upper_hinge).toMatchObject({ bushing: { angular_stiffness: [4, 4, 8] } });
});

// What holds for the whole page: keyboard, languages, accessibility, reload.

import { writeFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import { expect, test } from './support/test';

const MOTION = `karakuri_motion: 1
robot: {model: khr1, urdf: urdf/khr1/khr1.urdf, config: config/khr1.yaml}
units: {angle: deg}
poses:
  stand: {}
  bow: {from: stand, l_hip_pitch: -40, r_hip_pitch: -40, head_yaw: 10}
motions:
  greet:
    start: {pose: stand, support: both}
    scenes:
      - {pose: stand, time: 0.5}
      - {pose: bow, time: 1.0, note: "say hello"}
      - {pose: stand, time: 1.0}
    tracks:
      head_yaw: {blend: add, keys: [{t: 0, y: 0}, {t: 0.4, y: 15}]}
`;

test.beforeEach(({ folder }) => writeFileSync(folder.file('greet.yaml'), MOTION));

for (const scheme of ['dark', 'light'] as const) {
  test(`nothing hinders access in ${scheme} colours`, async ({ start, studio, page }) => {
    test.setTimeout(60_000);
    await page.emulateMedia({ colorScheme: scheme });
    await start('greet.yaml');
    const views: [string, string][] = [
      ['Joints', 'List'],
      ['Balance', 'Timeline'],
      ['Checks', 'Curves'],
      ['Scene', 'List'],
      ['Run', 'List'],
      ['Panels', 'List'],
    ];
    for (const [right, below] of views) {
      await studio.tab(right).click();
      await studio.tab(below).click();
      // with something in it
      const add = { Scene: 'Box', Panels: 'Panel' }[right];
      if (add !== undefined) await page.getByRole('button', { name: add, exact: true }).click();
      await studio.idle();
      // what is below was looked at with the first three
      const axe = new AxeBuilder({ page });
      // nothing but colours is another in light ones
      if (scheme === 'light') axe.withRules('color-contrast');
      const { violations } = await (['Scene', 'Run', 'Panels'].includes(right) ? axe.include('#right-pane') : axe).analyze();
      const serious = violations.filter((one) => one.impact === 'serious' || one.impact === 'critical');
      expect(serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' | ')}`), `${right}, ${below}`).toEqual([]);
    }
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).include('dialog').analyze();
    expect(violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')).toEqual([]);
  });
}

test('handles are there in high and low detail', async ({ start, studio, page }) => {
  await start('greet.yaml');
  const sole = await studio.link('r_sole');
  for (let i = 0; i < 2; i++) {
    await page.getByRole('button', { name: 'Low detail' }).click();
    await studio.idle();
    expect(await studio.link('r_sole')).toEqual(sole);
  }
});

test('a bow is made with the keyboard alone', async ({ start, studio, page }) => {
  await start('greet.yaml');
  const bow = page.getByRole('button', { name: /^bow/ }).first();
  await bow.focus();
  await page.keyboard.press('Enter');
  await studio.idle();
  expect(await studio.get('selection')).toEqual({ kind: 'pose', name: 'bow' });
  await studio.slider('l_hip_pitch').focus();
  await page.keyboard.press('Shift+ArrowLeft');
  await studio.idle();
  expect((await studio.get('document'))?.poses.bow?.joints.l_hip_pitch).toBe(-50);

  // the time of a scene
  await page.getByRole('textbox', { name: 'Time of scene 2' }).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('1.2');
  await page.keyboard.press('Enter');
  await studio.idle();
  expect((await studio.get('document'))?.motions.greet?.scenes[1]?.time).toBe(1.2);

  // a scene moves up
  await page.getByRole('button', { name: 'Scene 3', exact: true }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await studio.idle();
  expect((await studio.get('document'))?.motions.greet?.scenes.map((scene) => scene.pose)).toEqual(['stand', 'stand', 'bow']);

  await studio.tab('Timeline').focus();
  await page.keyboard.press('Enter');
  const key = page.getByRole('button', { name: /^head_yaw, key 2, 0.40 s, 15.0/ });
  await key.focus();
  await page.keyboard.press('ArrowRight');
  await studio.idle();
  expect((await studio.get('document'))?.motions.greet?.tracks.head_yaw?.keys[1]?.t).toBeCloseTo(0.42, 9);

  // what nothing takes is a shortcut: the picture has no focus, the page has
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('End');
  expect(await studio.get('time')).toBeCloseTo(2.7, 9);
  await page.keyboard.press('Home');
  await page.keyboard.press('Space');
  expect(await studio.get('playing')).toBe(true);
  await page.keyboard.press('Space');
  expect(await studio.get('playing')).toBe(false);
});

test('the page speaks Japanese, and keeps to it', async ({ start, studio, page }) => {
  await start('greet.yaml');
  await page.getByRole('combobox', { name: 'Language' }).selectOption('ja');
  expect(await studio.get('language')).toBe('ja');
  await expect(page.getByRole('button', { name: 'プレビュー' })).toBeVisible();
  expect(await page.locator('html').getAttribute('lang')).toBe('ja');
  const latin = await page.locator('.page').evaluate((root) => {
    const words: string[] = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim() ?? '';
      const element = node.parentElement;
      if (element?.checkVisibility() && element.tagName !== 'OPTION') words.push(text);
    }
    // sentences and labels of English; names of joints, poses and files are the user's
    return words.filter((text) => /^[A-Z][a-z]+/.test(text));
  });
  expect(latin).toEqual([]);

  // Enter ends the conversion of an input method, not the field
  await page.getByRole('textbox', { name: 'シーン 2 のメモ' }).focus();
  await page.reload();
  await page.waitForFunction(() => window.__studio?.ready === true);
  expect(await studio.get('language')).toBe('ja');
});

test('a reload keeps the document, and a second page only watches', async ({ start, studio, page, context }) => {
  const server = await start('greet.yaml');
  await page.getByRole('button', { name: /^stand/ }).first().click();
  await studio.setJoint('head_yaw', 12);
  await page.reload();
  await page.waitForFunction(() => window.__studio?.ready === true);
  expect((await studio.get('document'))?.poses.stand?.joints.head_yaw).toBe(12);

  const other = await context.newPage();
  await other.goto(server.address);
  await other.waitForFunction(() => window.__studio?.ready === true);
  await expect(other.getByRole('button', { name: 'Take over' })).toBeVisible();
  await expect(other.getByRole('slider', { name: 'head_yaw' })).toBeDisabled();
  await other.close();
});

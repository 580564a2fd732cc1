// Browser tests of the motion studio: `./dev test page`, or here `npx playwright test FILE`.

import { defineConfig } from '@playwright/test';

const out = `${__dirname}/../../.ros/browser`;

/** Tests that measure times. */
const TIMED = /(budgets|5-fall|6-tune)\.spec\.ts$/;

/** Beside a robot, which a test of the nodes starts. */
const ROBOT = /live\.spec\.ts$/;

/** Pictures are no tests: they are made when their folder is named. */
const PICTURES = process.env.KARAKURI_PICTURES === undefined ? ['**/pictures.spec.ts'] : [];

export default defineConfig({
  testDir: __dirname,
  outputDir: `${out}/results`,
  // pages wait much of the time, though each draws without a graphics card on all processors there are
  workers: 2,
  projects: [
    { name: 'stories', testIgnore: [TIMED, ROBOT, ...PICTURES] },
    // what is measured runs alone: `--project timed --workers 1`
    { name: 'timed', testMatch: TIMED },
    { name: 'robot', testMatch: ROBOT },
  ],
  timeout: 30_000,
  expect: { timeout: 8_000 },
  reporter: [[`${__dirname}/support/reporter.ts`]],
});

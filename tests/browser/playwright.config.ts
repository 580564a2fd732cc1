// Browser tests of the motion studio: `./dev test page`, or here `npx playwright test FILE`.

import { defineConfig } from '@playwright/test';

const out = `${__dirname}/../../.ros/browser`;

export default defineConfig({
  testDir: __dirname,
  // pictures are no tests: they are made when their folder is named
  testIgnore: process.env.KARAKURI_PICTURES === undefined ? 'pictures.spec.ts' : [],
  outputDir: `${out}/results`,
  // the pages draw without a graphics card, on all processors there are
  workers: 1,
  timeout: 30_000,
  expect: { timeout: 8_000 },
  reporter: [[`${__dirname}/support/reporter.ts`]],
});

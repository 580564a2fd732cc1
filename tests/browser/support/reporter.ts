// A line for each test, and at the end the sum, as `./dev test` counts it.

import type { FullResult, Reporter, TestCase, TestResult } from '@playwright/test/reporter';

export default class Lines implements Reporter {
  private readonly counts = { passed: 0, failed: 0, skipped: 0 };

  printsToStdio(): boolean {
    return true;
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const name = test.titlePath().filter(Boolean).join(' > ');
    if (result.status === 'skipped') {
      this.counts.skipped++;
      const why = test.annotations.find((annotation) => annotation.type === 'skip')?.description ?? '';
      console.log(`SKIPPED ${name}: ${why}`);
    } else if (result.status === test.expectedStatus) {
      this.counts.passed++;
      console.log(`passed ${name} (${(result.duration / 1000).toFixed(1)} s)`);
    } else {
      this.counts.failed++;
      console.log(`error: ${name}`);
      for (const error of result.errors) console.log(error.stack ?? error.message ?? error.value);
    }
    for (const chunk of result.stdout) process.stdout.write(chunk);
  }

  onError(error: { message?: string; stack?: string }): void {
    this.counts.failed++;
    console.log(`error: ${error.stack ?? error.message}`);
  }

  onEnd(_: FullResult): void {
    const { passed, failed, skipped } = this.counts;
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
}

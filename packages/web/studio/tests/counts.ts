// The sum at the end, as `./dev test` counts it.

import type { Reporter, TestModule } from 'vitest/node';

export default class Counts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      // a file that cannot be read has no tests
      if (module.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests()) counts[test.result().state]++;
    }
    // after what other reporters print
    process.on('exit', () => {
      console.log(
        `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped + counts.pending} skipped`,
      );
    });
  }
}

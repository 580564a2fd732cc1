import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { expect, it, vi } from 'vitest';

/** A page that loads at once over a slow line. [bytes] */
const COMPRESSED = 260_000;
const WHOLE = 1_000_000;

it('the page is small', { timeout: 60_000 }, async () => {
  // else libraries give what they have for tests, with their checks
  vi.stubEnv('NODE_ENV', 'production');
  const built = await build({
    root: `${import.meta.dirname}/..`,
    logLevel: 'silent',
    build: { write: false },
  });
  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []));
  const scripts = outputs.filter((file) => file.type === 'chunk').map((file) => file.code);
  const whole = scripts.reduce((sum, code) => sum + code.length, 0);
  const compressed = scripts.reduce((sum, code) => sum + gzipSync(code).length, 0);
  expect(compressed).toBeGreaterThan(50_000);
  expect(compressed).toBeLessThanOrEqual(COMPRESSED);
  expect(whole).toBeLessThanOrEqual(WHOLE);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import en from '../src/i18n/en.json';
import ja from '../src/i18n/ja.json';

const SOURCE = join(import.meta.dirname, '../src');

/** All text of the page's code. */
function code(): string {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(ts|svelte)$/.test(file))
    .map((file) => readFileSync(join(SOURCE, file), 'utf8'))
    .join('\n');
}

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '').sort();
}

describe('texts', () => {
  it('are the same keys in both languages, in order', () => {
    expect(Object.keys(ja)).toEqual(Object.keys(en));
  });

  it('have the same arguments in both languages', () => {
    for (const [key, text] of Object.entries(en)) {
      expect(placeholders(ja[key as keyof typeof en]), key).toEqual(placeholders(text));
    }
  });

  it('are all used', () => {
    const text = code();
    // keys that are put together from a part that the code has, and a word of the wire
    const made = new Set([
      ...[...text.matchAll(/t\(\s*`([a-z_.]+)\$\{/g)].map((match) => match[1]),
      ...[...text.matchAll(/coded\('([a-z]+)'/g)].map((match) => `${match[1]}.`),
    ]);
    const unused = Object.keys(en).filter(
      (key) => !text.includes(`'${key}'`) && ![...made].some((prefix) => prefix && key.startsWith(prefix)),
    );
    expect(unused).toEqual([]);
  });

  it('are Japanese where they are sentences', () => {
    const same = Object.entries(en).filter(
      ([key, text]) => ja[key as keyof typeof en] === text && /[a-z]{3}/i.test(text.replace(/\{\w+\}/g, '')),
    );
    expect(same.map(([key]) => key)).toEqual(['help.version']);
  });
});

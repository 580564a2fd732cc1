import { readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { withSmallerShaders } from './shaders';

const I18N = `${import.meta.dirname}/src/i18n`;
const JAPANESE = '\0japanese';

/** Takes out of three's shaders what this page never shows, and their indentation, which no minifier does. */
const smallShaders: Plugin = {
  name: 'small-shaders',
  transform: (code, id) =>
    /[\\/]three[\\/]build[\\/]three\.module\.js$/.test(id) ? withSmallerShaders(code) : null,
};

/** Has the keys of the texts once in the page: those of Japanese are those of English, in the same order (tests/i18n.test.ts). */
const textsWithoutKeys: Plugin = {
  name: 'texts-without-keys',
  apply: 'build',
  enforce: 'pre',
  resolveId: (source) => (source.endsWith('/ja.json') ? JAPANESE : null),
  load(id) {
    if (id !== JAPANESE) return null;
    const texts = Object.values(JSON.parse(readFileSync(`${I18N}/ja.json`, 'utf8')));
    return `import en from ${JSON.stringify(`${I18N}/en.json`)};
const texts = ${JSON.stringify(texts)};
export default Object.fromEntries(Object.keys(en).map((key, i) => [key, texts[i]]));`;
  },
};

export default defineConfig({
  plugins: [svelte(), smallShaders, textsWithoutKeys],
  build: {
    target: 'es2022',
    // The page is served under a content security policy without inline anything.
    assetsInlineLimit: 0,
    // three is one file of 615 kB; tests/size.test.ts bounds them all
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What changes rarely is a file of its own, which a browser keeps.
        codeSplitting: { groups: [{ name: 'three', test: /node_modules[\\/]three/ }] },
      },
    },
  },
});

import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [svelte()],
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

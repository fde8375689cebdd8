// How the page is bundled: files named by their content, no script in the document, the graph library apart.
import react from '@vitejs/plugin-react';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Writes `<file>.gz` beside what browsers load, once all is written: the server hands it out as it is. */
const compressed = {
  name: 'recourse-compressed',
  apply: 'build',
  writeBundle({ dir }, bundle) {
    for (const fileName of Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name))) {
      const path = join(dir, fileName);
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
    }
  },
};

export default {
  plugins: [react(), compressed],
  base: '/',
  build: {
    outDir: '../dist/page-files',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000,
  },
};

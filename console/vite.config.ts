import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const OUTPUT = path.resolve(import.meta.dirname, '..', 'dist', 'console');
/** URL of the running service to which `vite dev` sends API calls. */
const SERVICE = process.env['POSTHORN_URL'] ?? 'http://localhost:3000';

/**
 * Returns a plugin that writes compressed copies of the output at build time: brotli for https and localhost, gzip for
 * an intranet over plain http.
 */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(OUTPUT, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const bytes = readFileSync(path.join(OUTPUT, name));
        writeFileSync(
          path.join(OUTPUT, `${name}.br`),
          brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
        );
        writeFileSync(path.join(OUTPUT, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

/** Returns a plugin that adds the prefetching script to the console's page. The script waits for no other file. */
function early(): Plugin {
  return {
    name: 'early',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {}, path: page }) {
        const entry = Object.values(bundle).find(
          (file) => file.type === 'chunk' && file.isEntry && file.name === 'early',
        );
        if (entry?.type !== 'chunk' || !page.endsWith('/index.html')) return html;
        // Loads the script and its imports before all other files, because browsers open few connections at once.
        const needed = entry.imports.map((file) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${file}` },
          injectTo: 'head-prepend' as const,
        }));
        return [
          {
            tag: 'script',
            attrs: { type: 'module', async: true, crossorigin: true, src: `./${entry.fileName}` },
            injectTo: 'head-prepend',
          },
          ...needed,
        ];
      },
    },
  };
}

/** One build works for any BASE_URL. Addresses are relative to the `<base>` that the service inserts into the page. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic' } },
  plugins: [early(), compressed()],
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    // Lists the files that each file loads. A test uses this list to sum up the size of each screen.
    manifest: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        console: path.resolve(import.meta.dirname, 'index.html'),
        early: path.resolve(import.meta.dirname, 'src/app/early.ts'),
        portal: path.resolve(import.meta.dirname, 'portal.html'),
        embed: path.resolve(import.meta.dirname, 'src/embed/portal.ts'),
      },
      // The script that mounts the portal in customers' pages is imported by its file name.
      preserveEntrySignatures: 'exports-only',
      output: { entryFileNames: ({ name }) => (name === 'embed' ? 'embed/portal.js' : 'assets/[name]-[hash].js') },
      onLog(level, log, next) {
        // Ignores two kinds of warnings: about "use client" directives in libraries, which are for other frameworks,
        // and about slow plugins, which are expected on a busy machine.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE' && log.code !== 'PLUGIN_TIMINGS') next(level, log);
      },
    },
  },
  server: {
    proxy: Object.fromEntries(['/v1', '/signin', '/signout', '/pages'].map((prefix) => [prefix, { target: SERVICE }])),
  },
});

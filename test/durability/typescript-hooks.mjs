// Resolves an import of `x.js` to `x.ts` if there is no `x.js`, and compiles the file.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

const {
  $schema: _schema,
  module: _module,
  jsc: { baseUrl: _baseUrl, ...jsc },
  ...settings
} = JSON.parse(readFileSync(new URL('../../.swcrc', import.meta.url), 'utf8'));

export async function resolve(specifier, context, nextResolve) {
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.url?.endsWith('.js')) throw error;
    return { url: error.url.replace(/\.js$/, '.ts'), format: 'module', shortCircuit: true };
  }
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(readFileSync(filename, 'utf8'), {
    ...settings,
    jsc,
    filename,
    swcrc: false,
    sourceMaps: 'inline',
    module: { type: 'es6' },
  });
  return { format: 'module', source: code, shortCircuit: true };
}

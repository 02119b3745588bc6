// Packs the three thousand files that a start of the service loads into one file, because the tests start the service
// hundreds of times. Opening, resolving and compiling the separate files takes two thirds of the time of a start.
//
// Each module keeps its file name, URL and exports. Only the lookup differs. Modules that are not in the packed file
// are loaded as usual.
//
// node --experimental-import-meta-resolve pack.mjs FOLDER PROGRAM…
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { minifySync, transformSync } from '@swc/core';

/** @typedef {{ file: string, format: 'module' | 'commonjs' | 'json', code: string, links: Record<string, number> }} Packed */

/**
 * Writes the modules that the built files load: `modules.js` (an array of functions) and `modules.json` (entry points
 * of programs; files, formats and links).
 */
function pack(folder, programs) {
  const modules = collect(programs.map((program) => realpathSync(program)));
  mkdirSync(folder, { recursive: true });
  write(
    path.join(folder, 'modules.js'),
    asciiOnly(`[\n${modules.map((module, place) => wrap(module, place < programs.length)).join(',\n')}\n]`),
    'latin1',
  );
  const entries = Object.fromEntries(programs.map((program, place) => [path.basename(program, '.js'), place]));
  write(
    path.join(folder, 'modules.json'),
    JSON.stringify({ entries, table: modules.map(({ file, format, links }) => [file, format, links]) }),
    'utf8',
  );
}

/** Writes a file atomically, since other test runs may read it. */
function write(file, content, encoding) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content, encoding);
  renameSync(draft, file);
}

/** @returns {Packed[]} the entries, followed by everything that they import */
function collect(entries) {
  const files = [...entries];
  const places = new Map(entries.map((entry, place) => [entry, place]));
  const placeOf = (file) => {
    if (!places.has(file)) places.set(file, files.push(file) - 1);
    return places.get(file);
  };
  const modules = [];
  for (const file of files) {
    const format = formatOf(file);
    const code = codeOf(file, format);
    const links = Object.fromEntries(
      specifiersIn(code, format).flatMap((specifier) => {
        const found = resolve(specifier, file, format);
        return found === null ? [] : [[specifier, placeOf(found)]];
      }),
    );
    modules.push({ file, format, code, links });
  }
  return modules;
}

function codeOf(file, format) {
  const text = readFileSync(file, 'utf8').replace(/^#!.*/, '');
  if (format === 'json') return text;
  // Replaces `import()`, which code from V8's cache cannot use.
  const named = text.replace(/(?<![.\w$])import\s*\((?![^()]*\)\s*\{)/g, '__import(');
  if (format === 'commonjs') return shortened(named, file);
  return transformSync(named.replace(/\bimport\.meta\b/g, '__meta'), {
    swcrc: false,
    configFile: false,
    isModule: true,
    sourceMaps: false,
    jsc: { target: 'es2023', parser: { syntax: 'ecmascript' } },
    // Does not create module namespaces. The launcher creates them, because only the launcher can map a specifier to a
    // module.
    module: { type: 'commonjs', importInterop: 'none', strict: false },
    ...SHORT,
  }).code;
}

/** Removes comments and white space, so that a start reads only a third of the characters. */
const SHORT = { minify: true };

function shortened(code, file) {
  try {
    return minifySync(code, { compress: false, mangle: false, module: false, sourceMap: false }).code;
  } catch {
    return code;
  }
}

function specifiersIn(code, format) {
  if (format === 'json') return [];
  // Ignores `import()` in CommonJS modules. Its resolution rules differ from those of `require`, so Node.js resolves it
  // at run time.
  const calls = code.matchAll(
    format === 'module'
      ? /\b(?:require|__import)\(\s*(["'])([^"'\n]+)\1\s*\)/g
      : /\brequire\(\s*(["'])([^"'\n]+)\1\s*\)/g,
  );
  return [...new Set([...calls].map(([, , specifier]) => specifier))];
}

/** Returns the file that a specifier names, or null if Node.js resolves the specifier at run time. */
function resolve(specifier, from, format) {
  if (isBuiltin(specifier)) return null;
  try {
    const url = pathToFileURL(from).href;
    const file = realpathSync(
      format === 'module' ? fileURLToPath(import.meta.resolve(specifier, url)) : createRequire(from).resolve(specifier),
    );
    const isPackable =
      ['.js', '.mjs', '.cjs', '.json'].includes(path.extname(file)) &&
      (format === 'module' || formatOf(file) !== 'module');
    return isPackable ? file : null;
  } catch {
    // The package is optional and not installed, so Node.js cannot load it at run time either.
    return null;
  }
}

const types = new Map();

function formatOf(file) {
  const extension = path.extname(file);
  if (extension === '.json') return 'json';
  if (extension === '.mjs') return 'module';
  return extension === '.js' && typeIn(path.dirname(file)) === 'module' ? 'module' : 'commonjs';
}

/** Returns the `type` of the package that contains a folder. */
function typeIn(folder) {
  if (!types.has(folder)) {
    const manifest = path.join(folder, 'package.json');
    if (existsSync(manifest)) types.set(folder, JSON.parse(readFileSync(manifest, 'utf8')).type ?? 'commonjs');
    else types.set(folder, path.dirname(folder) === folder ? 'commonjs' : typeIn(path.dirname(folder)));
  }
  return types.get(folder);
}

function wrap({ format, code }, isEntry) {
  if (format === 'json') return `function(exports,require,module){module.exports=${code}}`;
  if (format === 'commonjs') return `function(exports,require,module,__filename,__dirname,__import){${code}\n}`;
  // Only a program's entry module may use top-level await. In other modules the compiler rejects it.
  return `${isEntry ? 'async ' : ''}function(exports,require,__import,__meta){"use strict";${code}\n}`;
}

/** Escapes non-ASCII characters, because code with one byte per character needs half the memory. */
function asciiOnly(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const [, , folder, ...programs] = process.argv;
pack(folder, programs);

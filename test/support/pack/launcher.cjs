// Runs a program of a pack (pack.mjs): `node launcher.cjs FOLDER main …` instead of `node dist/src/main.js …`.
'use strict';
const cluster = require('node:cluster');
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');

// These processes live for seconds, so V8's concurrent optimization during the start never pays off. This flag delays
// the optimization. Later releases of Node.js do not have it.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=600000');

// Defines `navigator` as Node.js 21 and later do. Without it, `pg` loads all of Node's fetch.
if (globalThis.navigator === undefined) {
  Object.defineProperty(globalThis, 'navigator', {
    value: { userAgent: `Node.js/${process.versions.node.split('.')[0]}` },
    configurable: true,
  });
}

const { createRequire, isBuiltin } = Module;
const [, , folder, program] = process.argv;
const cacheFile = path.join(folder, 'modules.cache');
/** The index of each program, and `[file, format, links]` of each module. */
const { entries, table } = JSON.parse(readFileSync(path.join(folder, 'modules.json'), 'utf8'));
const script = new Script(readFileSync(path.join(folder, 'modules.js'), 'latin1'), {
  filename: path.join(folder, 'modules.js'),
  ...(existsSync(cacheFile) ? { cachedData: readFileSync(cacheFile) } : {}),
});
const bodies = script.runInThisContext();
const loaded = new Array(table.length);
const namespaces = new Map();

/** Runs a module once. */
function load(place) {
  const known = loaded[place];
  if (known !== undefined) return known;
  const [file, format, links] = table[place];
  const module = { exports: {}, id: file, filename: file, loaded: false, children: [], paths: [] };
  loaded[place] = module;
  try {
    if (format === 'module') module.ended = runModule(module, bodies[place], file, links);
    else runCommonJs(module, bodies[place], file, links);
  } catch (error) {
    loaded[place] = undefined;
    throw error;
  }
  module.loaded = true;
  return module;
}

function runModule(module, body, file, links) {
  const url = pathToFileURL(file).href;
  const find = (specifier) => {
    const place = links[specifier];
    if (place === undefined) {
      if (isBuiltin(specifier)) return namespaceOf(specifier, require(specifier));
      throw Object.assign(new Error(`Cannot find package '${specifier}' imported from ${file}`), {
        code: 'ERR_MODULE_NOT_FOUND',
      });
    }
    return table[place][1] === 'module' ? load(place).exports : namespaceOf(place, load(place).exports);
  };
  const importLater = async (specifier) =>
    specifier in links || isBuiltin(specifier) ? find(specifier) : importFrom(url, specifier);
  const resolve = (specifier) =>
    specifier.startsWith('.')
      ? new URL(specifier, url).href
      : pathToFileURL(createRequire(file).resolve(specifier)).href;
  return body(module.exports, find, importLater, { url, filename: file, dirname: path.dirname(file), resolve });
}

function runCommonJs(module, body, file, links) {
  let own;
  const ownRequire = () => (own ??= createRequire(file));
  const find = (specifier) =>
    links[specifier] === undefined ? ownRequire()(specifier) : load(links[specifier]).exports;
  find.resolve = (...asked) => ownRequire().resolve(...asked);
  find.cache = require.cache;
  module.require = find;
  const importLater = (specifier) => importFrom(pathToFileURL(file).href, specifier);
  body.call(module.exports, module.exports, find, module, file, path.dirname(file), importLater);
}

/** Imports a module that the pack does not contain: an extension, or a module that CommonJS imports. */
async function importFrom(url, specifier) {
  return import(/^\.{0,2}\//.test(specifier) ? new URL(specifier, url).href : specifier);
}

/** Returns the namespace of a CommonJS module: its exports by name, and all of them as `default`. */
function namespaceOf(key, exported) {
  const known = namespaces.get(key);
  if (known !== undefined) return known;
  const namespace = {};
  const names = exported !== null && ['object', 'function'].includes(typeof exported) ? Object.keys(exported) : [];
  for (const name of names) {
    if (name !== 'default') Object.defineProperty(namespace, name, { enumerable: true, get: () => exported[name] });
  }
  Object.defineProperty(namespace, 'default', { enumerable: true, value: exported });
  namespaces.set(key, namespace);
  return namespace;
}

// `createRequire()` must return the packed copy, too. Decorators of a base class are not inherited from a second copy
// of class-transformer.
const packed = new Map(table.flatMap(([file, format], place) => (format === 'commonjs' ? [[file, place]] : [])));
const loadFile = Module._load;
Module._load = (request, parent, isMain) => {
  const place = isBuiltin(request) ? undefined : packed.get(Module._resolveFilename(request, parent, isMain));
  return place === undefined ? loadFile(request, parent, isMain) : load(place).exports;
};

// Stores the compiled code in the cache for the next start.
if (process.env.POSTHORN_TEST_PACK_LEARN) {
  process.once('exit', () => {
    writeFileSync(`${cacheFile}.${process.pid}`, script.createCachedData());
    renameSync(`${cacheFile}.${process.pid}`, cacheFile);
  });
}
// The processes of `PROCESSES` run the pack, too. They would otherwise run the file in `process.argv`.
if (cluster.isPrimary) cluster.setupPrimary({ exec: __filename, args: [folder, program] });
process.argv.splice(1, 3, table[entries[program]][0]);
load(entries[program]).ended.catch((error) => {
  setImmediate(() => {
    throw error;
  });
});

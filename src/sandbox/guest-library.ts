import { createHash, createHmac } from 'node:crypto';
import type { JSValueHandle, QuickJS } from 'quickjs-wasi';
import { LOG_LEVELS } from '#engine/code-logs.js';
import { LOG_LINE_LENGTH_MAX, LOG_LINES_MAX, type LogCollector } from './logs.js';

/** Error whose message is visible to the guest code, as the message of the exception that the guest code catches. */
class Refusal extends Error {}

const URL_FIELDS = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;
type UrlField = (typeof URL_FIELDS)[number];

type Bytes = Uint8Array | undefined;

/**
 * Functions of Node.js without side effects. Each gets an array parsed from JSON, and byte arrays. The guest sees the
 * message of an error only if the error is a `Refusal`.
 */
const OPERATIONS: Readonly<Record<string, (args: readonly unknown[], bytes: readonly Bytes[]) => unknown>> = {
  parseUrl: ([url, base]) => fieldsOf(() => new URL(String(url), base === null ? undefined : (base as string))),
  setUrl: ([href, field, value]) =>
    fieldsOf(() => {
      const url = new URL(String(href));
      url[field as Exclude<UrlField, 'origin'>] = String(value);
      return url;
    }),
  parseQuery: ([text]) => [...new URLSearchParams(String(text))],
  writeQuery: ([pairs]) => new URLSearchParams(pairs as [string, string][]).toString(),
  encode: ([text]) => Buffer.from(String(text)),
  decode: ([label, fatal, ignoreBOM], [data]) =>
    decoderFor(label, fatal === true, ignoreBOM === true, data ?? new Uint8Array()),
  digest: ([algorithm, encoding, isKeyed, text, key], [data, keyBytes]) => {
    const hash =
      isKeyed === true ? createHmac(String(algorithm), keyBytes ?? String(key)) : createHash(String(algorithm));
    const digest = hash.update(data ?? String(text)).digest();
    return encoding === 'bytes' ? digest : digest.toString(encoding as 'hex');
  },
};

/** Helper functions of the library for guest code. The library calls functions of the host through `ask`. */
const BASE = `
  const { parse, stringify } = JSON;
  const bytesOf = (value) =>
    ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      : value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
  const ask = (operation, args, ...bytes) => {
    const answer = host(operation, stringify(args), ...bytes);
    if (typeof answer !== 'string') return answer;
    const { value, error } = parse(answer);
    if (error !== undefined) throw new TypeError(error);
    return value;
  };
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
`;

const CONSOLE = `
  let lines = 0;
  const shown = (value) => {
    try {
      return typeof value !== 'object' || value === null || value instanceof Error ? String(value) : stringify(value) ?? String(value);
    } catch {
      return '[' + typeof value + ']';
    }
  };
  const { apply } = Reflect, { slice } = String.prototype;
  const write = (level) => (...values) => {
    if (lines > ${LOG_LINES_MAX}) return;
    lines += 1;
    const text = values.map(shown).join(' ');
    host('log', level, apply(slice, text, [0, ${LOG_LINE_LENGTH_MAX}]), text.length > ${LOG_LINE_LENGTH_MAX});
  };
  define('console', Object.fromEntries(${JSON.stringify(LOG_LEVELS)}.map((level) => [level, write(level)])));
`;

const URLS = `
  const FIELDS = ${JSON.stringify(URL_FIELDS)};
  class URLSearchParams {
    #pairs; #changed;
    constructor(init = '', changed) {
      this.#changed = typeof changed === 'function' ? changed : undefined;
      this.#pairs =
        typeof init !== 'object' || init === null ? ask('parseQuery', [String(init)])
          : typeof init[Symbol.iterator] === 'function' ? Array.from(init, (pair) => {
              const [name, value, ...rest] = pair;
              if (value === undefined || rest.length > 0) throw new TypeError('Each query pair must have a name and a value');
              return [String(name), String(value)];
            })
          : Object.entries(init).map(([name, value]) => [name, String(value)]);
    }
    #set(pairs) { this.#pairs = pairs; this.#changed?.(this.toString()); }
    get size() { return this.#pairs.length; }
    append(name, value) { this.#set([...this.#pairs, [String(name), String(value)]]); }
    delete(name, value) {
      this.#set(this.#pairs.filter(([n, v]) => n !== String(name) || (value !== undefined && v !== String(value))));
    }
    get(name) { return this.#pairs.find(([n]) => n === String(name))?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter(([n]) => n === String(name)).map(([, v]) => v); }
    has(name, value) { return this.#pairs.some(([n, v]) => n === String(name) && (value === undefined || v === String(value))); }
    set(name, value) {
      const first = this.#pairs.findIndex(([n]) => n === String(name));
      if (first < 0) return this.append(name, value);
      const pair = [String(name), String(value)];
      this.#set(this.#pairs.flatMap((each, at) => (at === first ? [pair] : each[0] === pair[0] ? [] : [each])));
    }
    sort() { this.#set([...this.#pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))); }
    forEach(each, self) { for (const [name, value] of this) each.call(self, value, name, this); }
    *entries() { for (let at = 0; at < this.#pairs.length; at += 1) yield [...this.#pairs[at]]; }
    *keys() { for (const [name] of this) yield name; }
    *values() { for (const [, value] of this) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return ask('writeQuery', [this.#pairs]); }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }
    static replace(params, text) { params.#pairs = ask('parseQuery', [text]); }
  }
  const replace = URLSearchParams.replace;
  delete URLSearchParams.replace;

  class URL {
    #fields; #params;
    constructor(url, base) { this.#fields = ask('parseUrl', [String(url), base === undefined ? null : String(base)]); }
    static parse(url, base) { try { return new URL(url, base); } catch { return null; } }
    static canParse(url, base) { return URL.parse(url, base) !== null; }
    static {
      for (const field of FIELDS) {
        Object.defineProperty(this.prototype, field, {
          configurable: true, enumerable: true,
          get() { return this.#fields[field]; },
          set: field === 'origin' ? undefined : function (value) {
            this.#fields = ask('setUrl', [this.#fields.href, field, String(value)]);
            if (this.#params) replace(this.#params, this.#fields.search);
          },
        });
      }
    }
    get searchParams() {
      return (this.#params ??= new URLSearchParams(this.#fields.search, (text) => {
        this.#fields = ask('setUrl', [this.#fields.href, 'search', text]);
      }));
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
    get [Symbol.toStringTag]() { return 'URL'; }
  }
  define('URL', URL);
  define('URLSearchParams', URLSearchParams);
`;

const TEXTS = `
  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return ask('encode', [String(text)]); }
  }
  class TextDecoder {
    #label; #fatal; #ignoreBOM;
    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      [this.#label, this.#fatal, this.#ignoreBOM] = [String(label), Boolean(fatal), Boolean(ignoreBOM)];
      this.decode();
    }
    get encoding() { return this.#label.trim().toLowerCase().replace(/^utf8$/, 'utf-8'); }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(data, { stream = false } = {}) {
      if (stream) throw new TypeError('TextDecoder cannot decode a stream here');
      const bytes = data === undefined ? new Uint8Array() : bytesOf(data);
      if (bytes === undefined) throw new TypeError('The data to decode must be an ArrayBuffer or a view of one');
      return ask('decode', [this.#label, this.#fatal, this.#ignoreBOM], bytes);
    }
  }
  define('TextEncoder', TextEncoder);
  define('TextDecoder', TextDecoder);
`;

const CRYPTO = `
  const ENCODINGS = ['hex', 'base64', 'base64url', 'bytes'];
  const digest = (algorithm, data, encoding, isKeyed, key) => {
    if (!ENCODINGS.includes(encoding)) throw new TypeError('The encoding must be one of ' + ENCODINGS.join(', '));
    const input = (value, what) => {
      const bytes = bytesOf(value);
      if (bytes === undefined && typeof value !== 'string') throw new TypeError('The ' + what + ' must be a string or bytes');
      return bytes;
    };
    const dataBytes = input(data, 'data');
    const keyBytes = isKeyed ? input(key, 'key') : undefined;
    return ask('digest', [algorithm, encoding, isKeyed, dataBytes ? '' : data, isKeyed && !keyBytes ? key : ''], dataBytes, keyBytes);
  };
  const ALGORITHMS = ['sha1', 'sha256', 'sha384', 'sha512'];
  const crypto = Object.fromEntries(ALGORITHMS.map((name) => [name, (data, encoding = 'hex') => digest(name, data, encoding, false)]));
  crypto.hmac = (algorithm, key, data, encoding = 'hex') => {
    if (!ALGORITHMS.includes(algorithm)) throw new TypeError('The algorithm must be one of ' + ALGORITHMS.join(', '));
    return digest(algorithm, data, encoding, true, key);
  };
  define('crypto', crypto);
`;

/**
 * Parts of the library, each with a pattern that matches code that needs it. Loading all parts takes almost as long as
 * starting a VM.
 */
const PARTS: readonly [RegExp, string][] = [
  [/\bconsole\b/, CONSOLE],
  [/\bURL(?:SearchParams)?\b/, URLS],
  [/\bText(?:En|De)coder\b/, TEXTS],
  [/\bcrypto\b/, CRYPTO],
];

/**
 * Defines the console, and standard functions that QuickJS lacks, if the code mentions them. Calls `isOver` before each
 * function of the host, because QuickJS cannot interrupt such a function.
 */
export function installLibrary(vm: QuickJS, code: string, logs: LogCollector, isOver: () => boolean): void {
  const parts = PARTS.filter(([name]) => name.test(code)).map(([, source]) => source);
  if (parts.length === 0) return;
  let last: JSValueHandle | undefined;
  const host = vm.newFunction('host', (operation, ...args) => {
    // The engine copies the returned handle, so it can be freed only after the call.
    last?.dispose();
    last = undefined;
    const answer = isOver() ? '{"error":"interrupted"}' : answerTo(operation, args, logs);
    try {
      return (last = typeof answer === 'string' ? vm.newString(answer) : vm.newUint8Array(answer));
    } catch {
      // Clears the stack, because the guest would see it, and it contains paths of this machine.
      throw Object.assign(new Error('out of memory'), { stack: '' });
    }
  });
  vm.callFunction(vm.evalCode(`(host) => {${BASE}${parts.join('')}}`, 'library.js'), vm.undefined, host);
}

function answerTo(
  operation: JSValueHandle | undefined,
  args: readonly JSValueHandle[],
  logs: LogCollector,
): string | Uint8Array {
  try {
    const name = operation?.toString() ?? '';
    if (name === 'log') {
      const [level, text, isCut] = args;
      logs.add(level?.toString() ?? '', text?.toString() ?? '', isCut?.toString() === 'true');
      return '{}';
    }
    const [texts, ...bytes] = args;
    const value = OPERATIONS[name]?.(
      JSON.parse(texts?.toString() ?? '[]') as unknown[],
      bytes.map((handle) => (handle.isUndefined ? undefined : handle.toUint8Array())),
    );
    return value instanceof Uint8Array ? value : JSON.stringify({ value });
  } catch (error) {
    return JSON.stringify({ error: error instanceof Refusal ? error.message : 'The arguments are not valid' });
  }
}

function fieldsOf(parse: () => URL): Record<string, string> {
  const url = attempt(parse, 'Invalid URL');
  return Object.fromEntries(URL_FIELDS.map((field) => [field, url[field]]));
}

function decoderFor(label: unknown, fatal: boolean, ignoreBOM: boolean, data: Uint8Array): string {
  const decoder = attempt(() => new TextDecoder(String(label), { fatal, ignoreBOM }), 'The encoding is not supported');
  return attempt(() => decoder.decode(data), 'The encoded data was not valid');
}

function attempt<T>(compute: () => T, message: string): T {
  try {
    return compute();
  } catch {
    throw new Refusal(message);
  }
}

import { writeExact } from '../exact-json.js';
import type { Faults } from './faults.js';
import { compileJsonPath, JSON_PATH_BYTES_MAX } from './json-path.js';
import { textOf } from './leaf.js';
import type { RequestView } from './request-view.js';

/** Text with placeholders for request values, for example `{{body.path}}`, `{{query.name}}` or `{{headers.name}}`. */
export interface Template {
  readonly places: number;
  /** Returns the filled-in text, at most `bytesMax` bytes long. A value that does not fit is treated as missing. */
  render(view: RequestView, bytesMax: number): string;
}

export type Encoding =
  | 'plain'
  /**
   * The text is JSON. Inside a JSON string, the value is escaped, so that it cannot end the string. Elsewhere, the
   * value is inserted as JSON, or as `null` if it is missing.
   */
  | 'json'
  /** The text is HTML or XML. The value is escaped, so that it cannot become a tag or leave a quoted attribute. */
  | 'markup'
  | 'form'
  /** The text is a header value. From the inserted value, only printable ASCII is kept, at most 1,024 characters. */
  | 'header';

type Lookup = (view: RequestView) => unknown;

interface Place {
  lookup: Lookup;
  encode: (value: unknown) => string;
}

const HEADER_VALUE_LENGTH_MAX = 1024;
const NAMES = '{{body.path}}, {{form.name}}, {{query.name}} and {{headers.name}}';

export function compileTemplate(text: string, at: string, faults: Faults, encoding: Encoding): Template | null {
  const split = splitAtPlaces(text);
  if (split === null) {
    faults.add(at, 'has {{ without }}');
    return null;
  }
  const { literals, expressions } = split;
  const isInString = insideStrings(literals);
  const places: Place[] = [];
  for (const [index, expression] of expressions.entries()) {
    const lookup = lookupOf(expression);
    if (typeof lookup === 'string') faults.add(at, lookup);
    else places.push({ lookup, encode: encoderOf(encoding, isInString[index] ?? false) });
  }
  if (places.length < expressions.length) return null;
  return { places: places.length, render: (view, bytesMax) => render(literals, places, view, bytesMax) };
}

/** Splits a text into its placeholders and the literals around them. Returns null if a placeholder is not closed. */
function splitAtPlaces(text: string): { literals: string[]; expressions: string[] } | null {
  const literals: string[] = [];
  const expressions: string[] = [];
  let from = 0;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', from)) {
    const close = text.indexOf('}}', open);
    if (close < 0) return null;
    literals.push(text.slice(from, open));
    expressions.push(text.slice(open + 2, close).trim());
    from = close + 2;
  }
  literals.push(text.slice(from));
  return { literals, expressions };
}

/** Returns for each placeholder whether it is inside a JSON string. Assumes that the whole text is JSON. */
function insideStrings(literals: readonly string[]): boolean[] {
  let isInside = false;
  return literals.map((literal) => {
    for (let at = 0; at < literal.length; at += 1) {
      if (literal[at] === '\\' && isInside) at += 1;
      else if (literal[at] === '"') isInside = !isInside;
    }
    return isInside;
  });
}

function lookupOf(expression: string): Lookup | string {
  const [, source, name = ''] = /^(body|form|query|headers)\.(.+)$/s.exec(expression) ?? [];
  if (source === 'query') return (view) => oneOrAll(view.query(name));
  if (source === 'form') return (view) => oneOrAll(view.form(name));
  if (source === 'headers') return (view) => view.header(name.toLowerCase());
  return source === 'body' ? bodyLookup(name) : `knows only ${NAMES}`;
}

/** Returns the value of a query parameter or form field, or all its values as a list if its name is repeated. */
function oneOrAll(values: readonly string[]): string | readonly string[] | undefined {
  return values.length > 1 ? values : values[0];
}

/** Compiles the path after `body.`. In JSON, `items.0` means `items[0]`. In a form, the path may be a field name. */
function bodyLookup(name: string): Lookup | string {
  if (Buffer.byteLength(name) > JSON_PATH_BYTES_MAX) return `has a path of over ${JSON_PATH_BYTES_MAX} bytes`;
  const path = compileJsonPath(`$.${name}`.replace(/\.(\d+)(?=[.[]|$)/g, '[$1]'));
  if (typeof path === 'string') return `has a path after body that ${path}`;
  return (view) => {
    const found = view.json === undefined ? undefined : path.first(view);
    return found === undefined ? oneOrAll(view.form(name)) : found;
  };
}

function encoderOf(encoding: Encoding, isInString: boolean): Place['encode'] {
  switch (encoding) {
    case 'plain':
      return (value) => textOf(value) ?? '';
    case 'json':
      return isInString
        ? (value) => JSON.stringify(textOf(value) ?? '').slice(1, -1)
        : (value) => writeExact(value ?? null);
    case 'markup':
      return (value) => (textOf(value) ?? '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
    case 'form':
      return (value) => new URLSearchParams([['', textOf(value) ?? '']]).toString().slice(1);
    case 'header':
      return (value) => (textOf(value) ?? '').replace(/[^\x20-\x7e]+/g, '').slice(0, HEADER_VALUE_LENGTH_MAX);
  }
}

function render(literals: readonly string[], places: readonly Place[], view: RequestView, bytesMax: number): string {
  const empty = places.map(({ encode }) => encode(undefined));
  let bytesLeft = bytesMax - Buffer.byteLength([...literals, ...empty].join(''));
  let text = literals[0] ?? '';
  for (const [index, { lookup, encode }] of places.entries()) {
    const missing = empty[index] ?? '';
    const value = encode(lookup(view));
    const extraBytes = Buffer.byteLength(value) - missing.length;
    const fits = extraBytes <= bytesLeft;
    if (fits) bytesLeft -= extraBytes;
    text += (fits ? value : missing) + (literals[index + 1] ?? '');
  }
  return text;
}

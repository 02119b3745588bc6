import type { CodeCompletion } from '../kit/code/completion';
import { LEAF_TYPES, OPERATORS } from './conditions';

/** A request, as far as filters read it. */
export interface FilteredRequest {
  query: string;
  headers: readonly (readonly string[])[];
  body: string;
  body_encoding: string;
}

/** A value of a request that a condition can read. */
export interface EventField {
  type: 'json' | 'header' | 'query' | 'form';
  /** JSONPath for `json`, otherwise the name. */
  of: string;
  sample: string;
}

const FIELDS_MAX = 300;
const DEPTH_MAX = 12;
/** Items of a list whose members are read. Items of one list usually have the same members. */
const ITEMS_MAX = 5;
const SAMPLE_LENGTH_MAX = 80;
const NAMES = ['all', 'any', 'not', 'type', 'path', 'name', 'op', 'value'] as const;
const RULE_NAMES = ['rules', 'default', 'when', 'respond', 'status', 'headers', 'body'] as const;

/** Returns the fields of a request in the order of the request, without duplicates: body, headers, query and form. */
export function fieldsOf(request: FilteredRequest): EventField[] {
  const contentType = request.headers.find(([name]) => name?.toLowerCase() === 'content-type')?.[1] ?? '';
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType);
  const form = isForm ? new URLSearchParams(request.body) : new URLSearchParams();
  const json =
    request.body_encoding !== 'text' ? undefined : parsed(isForm ? (form.get('payload') ?? '') : request.body);
  const fields: EventField[] = [
    ...jsonFields(json, '$', 0),
    ...request.headers.map(([name = '', value = '']) => ({
      type: 'header' as const,
      of: name.toLowerCase(),
      sample: value,
    })),
    ...[...new URLSearchParams(request.query)].map(([of, sample]) => ({ type: 'query' as const, of, sample })),
    ...[...form].map(([of, sample]) => ({ type: 'form' as const, of, sample })),
  ];
  const unique = new Map(fields.toReversed().map((field) => [`${field.type} ${field.of}`, field]));
  return [...unique.values()]
    .toReversed()
    .slice(0, FIELDS_MAX)
    .map((field) => ({ ...field, sample: field.sample.slice(0, SAMPLE_LENGTH_MAX) }));
}

/** Returns the texts that complete a filter, or with `isRules` the response rules: fields, and words of the grammar. */
export function filterCompletions(fields: readonly EventField[], isRules = false): CodeCompletion[] {
  return [
    ...fields.map(({ type, of, sample }) => ({ of: type === 'json' ? 'path' : 'name', text: of, detail: sample })),
    ...LEAF_TYPES.map((text) => ({ of: 'type', text })),
    ...OPERATORS.map((text) => ({ of: 'op', text })),
    ...[...(isRules ? RULE_NAMES : []), ...NAMES].map((text) => ({ of: null, text })),
  ];
}

function jsonFields(value: unknown, path: string, depth: number): EventField[] {
  if (value === undefined || depth > DEPTH_MAX) return [];
  if (Array.isArray(value))
    return value.slice(0, ITEMS_MAX).flatMap((item: unknown) => jsonFields(item, `${path}[*]`, depth + 1));
  if (typeof value !== 'object' || value === null)
    return [{ type: 'json', of: path, sample: typeof value === 'string' ? value : String(value) }];
  return Object.entries(value)
    .slice(0, FIELDS_MAX)
    .flatMap(([name, member]) => jsonFields(member, `${path}${segmentOf(name)}`, depth + 1));
}

/** Returns a name as a segment of a JSONPath (RFC 9535). */
function segmentOf(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return `.${name}`;
  return `['${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}']`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

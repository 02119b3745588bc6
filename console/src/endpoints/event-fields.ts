import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import type { CodeCompletion } from '../kit/code/completion';
import { LEAF_TYPES, OPERATORS } from './conditions';

/** The parts of a request that filters read. */
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
/** Maximum length of JSON that filters read. */
const JSON_LENGTH_MAX = 131_072;
/** Maximum number of list items whose members are read. Further items usually have the same members. */
const ITEMS_MAX = 5;
const SAMPLE_LENGTH_MAX = 80;
const NAMES = ['all', 'any', 'not', 'type', 'path', 'name', 'op', 'value'] as const;
/** Members of the event that a transform gets. */
const EVENT_MEMBERS = ['id', 'event_type', 'method', 'path', 'query', 'headers', 'form', 'body', 'raw', 'verification'];
const RULE_NAMES = ['rules', 'default', 'when', 'respond', 'status', 'headers', 'body'] as const;

/** Returns the fields of a request in the order of the request, without duplicates: body, headers, query and form. */
export function fieldsOf(request: FilteredRequest): EventField[] {
  const contentType = request.headers.find(([name]) => name?.toLowerCase() === 'content-type')?.[1] ?? '';
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType);
  const form = isForm ? new URLSearchParams(request.body) : new URLSearchParams();
  const text = request.body_encoding !== 'text' ? '' : isForm ? (form.get('payload') ?? '') : request.body;
  const fields: EventField[] = [
    ...jsonFields(text, treeOf(text), '$', 0),
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

/** Returns the completions for a filter, or with `isRules` for response rules: fields of the request, and keywords. */
export function filterCompletions(fields: readonly EventField[], isRules = false): CodeCompletion[] {
  return [
    ...fields.map(({ type, of, sample }) => ({ of: type === 'json' ? 'path' : 'name', text: of, detail: sample })),
    ...LEAF_TYPES.map((text) => ({ of: 'type', text })),
    ...OPERATORS.map((text) => ({ of: 'op', text })),
    ...[...(isRules ? RULE_NAMES : []), ...NAMES].map((text) => ({ of: null, text })),
  ];
}

/** Returns the completions for the code of a transform: the members of the event, and the fields of the request. */
export function codeCompletions(fields: readonly EventField[]): CodeCompletion[] {
  const members: CodeCompletion[] = EVENT_MEMBERS.map((name) => ({ of: null, text: `event.${name}` }));
  // For code, the body of a form is text, even if filters read JSON in the form.
  const isForm = fields.some(({ type }) => type === 'form');
  return [
    ...members,
    ...fields
      .filter(({ type }) => type !== 'json' || !isForm)
      .map((field) => ({ of: null, text: expressionOf(field), detail: field.sample })),
  ];
}

/** Returns a field as an expression. Segments of a JSONPath are also JavaScript, except for the wildcard. */
function expressionOf({ type, of }: EventField): string {
  if (type === 'json') return `event.body${of.slice(1).replaceAll('[*]', '[0]')}`;
  return `event.${{ header: 'headers', query: 'query', form: 'form' }[type]}${segmentOf(of)}`;
}

/** Returns the fields of JSON text. Samples are copied from the text, so that long numbers keep every digit. */
function jsonFields(text: string, node: Node | undefined, path: string, depth: number): EventField[] {
  if (node === undefined || depth > DEPTH_MAX) return [];
  const { children = [] } = node;
  if (node.type === 'array')
    return children.slice(0, ITEMS_MAX).flatMap((item) => jsonFields(text, item, `${path}[*]`, depth + 1));
  if (node.type === 'object')
    return children.slice(0, FIELDS_MAX).flatMap(({ children: [name, value] = [] }) => {
      const segment = segmentOf(String(name?.value));
      return jsonFields(text, value, `${path}${segment}`, depth + 1);
    });
  const sample = node.type === 'string' ? String(node.value) : text.slice(node.offset, node.offset + node.length);
  return [{ type: 'json', of: path, sample }];
}

/** Returns a name as a segment of a JSONPath (RFC 9535). */
function segmentOf(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return `.${name}`;
  return `['${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}']`;
}

/** Parses JSON. Returns undefined for other text, and for a body that is too long for filters. */
function treeOf(text: string): Node | undefined {
  if (text.length > JSON_LENGTH_MAX) return undefined;
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true });
  return errors.length === 0 ? root : undefined;
}

import { eventJsonOf, formOf, isObject, mayHaveMember, memberOf, scalarText } from './body.js';
import { headerOf, type ReceivedRequest } from './request.js';

export type Source =
  /** A header. The name is in lower case. */
  | { header: string }
  /** A member of the JSON body, or of the JSON in a form field. Dots separate the names in the path. */
  | { member: string }
  | { field: string }
  /** The first member of the JSON body whose name has this ending. The result is the name without the ending. */
  | { nameEnding: string }
  | { literal: string };

/** Sources whose values are joined. Every source that is not optional must be present. */
export type Recipe = readonly (Source & { optional?: true })[];

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

/** Returns the value of the first recipe whose required parts are all present. */
export function readFirst(recipes: readonly Recipe[], request: Received, separator: string): string | undefined {
  for (const recipe of recipes) {
    const value = readAll(recipe, request, separator);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Reads a source as text. Returns undefined if the text is missing, empty, or an object. */
export function readSource(source: Source, request: Received): string | undefined {
  const text = textAt(source, request);
  return text === '' ? undefined : text;
}

function readAll(recipe: Recipe, request: Received, separator: string): string | undefined {
  const parts: string[] = [];
  for (const source of recipe) {
    const part = readSource(source, request);
    if (part !== undefined) parts.push(part);
    else if (source.optional !== true) return undefined;
  }
  return parts.join(separator);
}

function textAt(source: Source, request: Received): string | undefined {
  if ('header' in source) return headerOf(request, source.header);
  if ('member' in source) {
    const { member } = source;
    return mayHaveMember(request, member) ? scalarText(memberOf(eventJsonOf(request), member)) : undefined;
  }
  if ('field' in source) return formOf(request).get(source.field) ?? undefined;
  if ('literal' in source) return source.literal;
  const json = eventJsonOf(request);
  const { nameEnding } = source;
  const name = isObject(json) ? Object.keys(json).find((key) => key.endsWith(nameEnding)) : undefined;
  return name?.slice(0, -nameEnding.length);
}

import { formOf, isObject, jsonOf, memberOf, scalarText } from './body.js';
import { headerOf, type ReceivedRequest } from './request.js';

/** One place of a request where a value stands. */
export type Source =
  /** A header, its name in lower case. */
  | { header: string }
  /** A member of the JSON body, its path joined by dots. */
  | { member: string }
  /** A field of a form. */
  | { field: string }
  /** The first name of the JSON body that ends so, without the ending. */
  | { nameEnding: string }
  /** A fixed word. */
  | { literal: string };

/** What a value is put together from: every part must be there, except the optional ones. */
export type Recipe = readonly (Source & { optional?: true })[];

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

/** The value of the first recipe whose parts are all there, joined by `separator`; undefined without one. */
export function readFirst(recipes: readonly Recipe[], request: Received, separator: string): string | undefined {
  for (const recipe of recipes) {
    const value = readAll(recipe, request, separator);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The text at one place; undefined where nothing, something empty, or an object stands. */
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
  if ('member' in source) return scalarText(memberOf(jsonOf(request), source.member));
  if ('field' in source) return formOf(request).get(source.field) ?? undefined;
  if ('literal' in source) return source.literal;
  const json = jsonOf(request);
  const { nameEnding } = source;
  const name = isObject(json) ? Object.keys(json).find((key) => key.endsWith(nameEnding)) : undefined;
  return name?.slice(0, -nameEnding.length);
}

import { findNodeAtLocation, type JSONPath, parseTree } from 'jsonc-parser';
import type { JsonFault } from './read-json';

/**
 * Returns the first error of the API that is about a typed JSON value, with its line in the text.
 *
 * `root` is the path of the value in the request, such as `responseRules`. Returns null if the fault is about something
 * else.
 */
export function locateFault(text: string, fault: unknown, root: string): JsonFault | null {
  const { fields } = (fault ?? {}) as { fields?: readonly { path: string; message: string }[] };
  const field = fields?.find(({ path }) => path === root || path.startsWith(`${root}.`));
  if (field === undefined) return null;
  const rest = field.path.slice(root.length + 1);
  const path = rest === '' ? [] : rest.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return { line: lineOf(text, path), message: rest === '' ? field.message : `${rest}: ${field.message}` };
}

/** Returns the line of a value. If the value is missing, returns the line of the value that should contain it. */
function lineOf(text: string, path: JSONPath): number | null {
  const root = parseTree(text);
  if (root === undefined) return null;
  for (let length = path.length; length >= 0; length -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node !== undefined) return text.slice(0, node.offset).split('\n').length;
  }
  return null;
}

/** Collections of the API that are planned for a later phase. */
const COLLECTIONS = new Set(['billing']);

/** Returns whether a path is planned for a later phase. Planned paths get 501 instead of 404. */
export function isNotShipped(path: string): boolean {
  const [, root = '', collection = ''] = path.split('/', 3);
  return root === 'v1' && COLLECTIONS.has(collection);
}

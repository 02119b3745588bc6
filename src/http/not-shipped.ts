/** Collections of the specification and the contract that belong to a later phase (specification, Versioning 3). */
const COLLECTIONS = new Set(['billing']);

/** Returns whether a path is planned. Planned paths get 501 instead of 404. */
export function isNotShipped(path: string): boolean {
  const [, root = '', collection = ''] = path.split('/', 3);
  return root === 'v1' && COLLECTIONS.has(collection);
}

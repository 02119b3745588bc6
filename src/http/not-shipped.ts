/** Collections of the specification and the contract that come in a later phase (specification, Versioning 3). */
const COLLECTIONS = new Set(['billing']);

/** Whether a path that no route serves is one that the service will have: 501 instead of 404. */
export function isNotShipped(path: string): boolean {
  const [, root = '', collection = ''] = path.split('/', 3);
  return root === 'v1' && COLLECTIONS.has(collection);
}

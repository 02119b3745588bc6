/** Collections of the specification and the contract that come in a later phase (specification, Versioning 3). */
const COLLECTIONS = new Set([
  'aliases', 'billing', 'providers',
]);

/** Paths outside of /v1 that come later: agents and their sign-in (contract, section 13). */
const ROOTS = new Set(['mcp', 'oauth']);

/** Whether a path that no route serves is one that the service will have: 501 instead of 404. */
export function isNotShipped(path: string): boolean {
  const [, root = '', collection = ''] = path.split('/', 3);
  return root === 'v1' ? COLLECTIONS.has(collection) : ROOTS.has(root) || /^\/\.well-known\/oauth-/.test(path);
}

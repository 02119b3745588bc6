/** An event type, or a group of types with the same first word: `invoice` for `invoice.paid` and `invoice.sent`. */
export interface TypeNode {
  /** Pattern to subscribe to: the type itself, or `invoice.*` for all types of the group. */
  pattern: string;
  label: string;
  description: string | null;
  children: TypeNode[];
}

/** Returns a tree with one level of groups, in alphabetical order. Types with the same first word form a group. */
export function typeTree(types: readonly { name: string; description: string | null }[]): TypeNode[] {
  const groups = new Map<string, TypeNode>();
  const alone: TypeNode[] = [];
  for (const { name, description } of [...types].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const leaf: TypeNode = { pattern: name, label: name, description, children: [] };
    const [head = ''] = name.split('.', 1);
    if (head === name) alone.push(leaf);
    else (groups.get(head) ?? setAndGet(groups, head)).children.push(leaf);
  }
  return [...groups.values(), ...alone];
}

/** Returns whether the patterns include all types that `pattern` matches. An empty list includes all types. */
export function isCovered(pattern: string, patterns: readonly string[]): boolean {
  return patterns.some(
    (each) => each === pattern || (each.endsWith('.*') && pattern !== each && pattern.startsWith(each.slice(0, -1))),
  );
}

/**
 * Returns the list with the pattern added, or removed if it was present. Adding `invoice.*` removes the types of that
 * group.
 */
export function toggled(pattern: string, patterns: readonly string[]): string[] {
  if (patterns.includes(pattern)) return patterns.filter((each) => each !== pattern);
  const rest = pattern.endsWith('.*')
    ? patterns.filter((each) => !each.startsWith(pattern.slice(0, -1)))
    : [...patterns];
  return [...rest, pattern].sort();
}

function setAndGet(groups: Map<string, TypeNode>, head: string): TypeNode {
  const made: TypeNode = { pattern: `${head}.*`, label: `${head}.*`, description: null, children: [] };
  groups.set(head, made);
  return made;
}

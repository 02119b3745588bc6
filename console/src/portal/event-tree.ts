/** One event type, or what stands in front of several: `invoice` of `invoice.paid` and `invoice.sent`. */
export interface TypeNode {
  /** What is subscribed to: the type itself, or `invoice.*` for all below. */
  pattern: string;
  label: string;
  description: string | null;
  children: TypeNode[];
}

/** The types as a tree of one level: what shares its first word stands together, in the order of the alphabet. */
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

/** Whether a pattern of the list takes what `pattern` names. No patterns take everything. */
export function isCovered(pattern: string, patterns: readonly string[]): boolean {
  return patterns.some(
    (each) => each === pattern || (each.endsWith('.*') && pattern !== each && pattern.startsWith(each.slice(0, -1))),
  );
}

/** The list with a pattern put in or taken out; with `invoice.*` in it, what is below needs no mention. */
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

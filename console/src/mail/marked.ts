/**
 * Returns the selection after the row `id` was selected or deselected. If `since` is in the list, all rows from there to
 * `id` get the new state of `id`.
 */
export function marked(
  selected: ReadonlySet<string>,
  order: readonly string[],
  id: string,
  since: string | null,
): ReadonlySet<string> {
  const [from, to] = [since === null ? -1 : order.indexOf(since), order.indexOf(id)];
  const changed = from === -1 || to === -1 ? [id] : order.slice(Math.min(from, to), Math.max(from, to) + 1);
  const isOn = !selected.has(id);
  return new Set(isOn ? [...selected, ...changed] : [...selected].filter((each) => !changed.includes(each)));
}

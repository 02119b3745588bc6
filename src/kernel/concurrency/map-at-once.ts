/**
 * Returns the results of `work` for all items, in the order of the items. At most `atOnceMax` calls run at the same
 * time. Rejects with the first error, without waiting for the remaining items, which are still processed.
 */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnceMax: number,
  work: (item: T, place: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  // All loops share this iterator, so that each item is processed once.
  const remaining = items.entries();
  const loop = async (): Promise<void> => {
    for (const [place, item] of remaining) results[place] = await work(item, place);
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, loop));
  return results;
}

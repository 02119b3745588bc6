/** Returns the first `count` items and fetches no more pages than needed. */
export async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  if (count < 1) return taken;
  for await (const item of items) {
    taken.push(item);
    if (taken.length >= count) break;
  }
  return taken;
}

/**
 * A queue in which keys take turns, whatever each of them has waiting: in the order of arrival within a key, one
 * each per round between keys.
 */
export class FairQueue<T> {
  /** In the order of their next turn; a key without items is not in it. */
  private readonly waiting = new Map<string, T[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** How many items of one key wait. */
  sizeOf(key: string): number {
    return this.waiting.get(key)?.length ?? 0;
  }

  push(key: string, item: T): void {
    const items = this.waiting.get(key);
    if (items) items.push(item);
    else this.waiting.set(key, [item]);
    this.count += 1;
  }

  /** The next item of the first key in turn that is admitted; its key then goes behind all others. */
  take(admits: (key: string) => boolean): T | undefined {
    for (const [key, items] of this.waiting) {
      if (!admits(key)) continue;
      const item = items.shift();
      this.waiting.delete(key);
      if (items.length > 0) this.waiting.set(key, items);
      this.count -= 1;
      return item;
    }
    return undefined;
  }

  /** Takes one item out before its turn; without effect when it has had it. */
  remove(key: string, item: T): void {
    const items = this.waiting.get(key);
    const index = items?.indexOf(item) ?? -1;
    if (!items || index < 0) return;
    items.splice(index, 1);
    if (items.length === 0) this.waiting.delete(key);
    this.count -= 1;
  }
}

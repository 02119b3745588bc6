import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects the garbage of the start, a quarter of the heap, and returns the memory to the operating system. V8 derives
 * the later size of the heap from the live size after this collection (`--heap-growing-percent`). Blocks the event
 * loop, so call it before the service listens.
 */
export function settleHeap(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
}

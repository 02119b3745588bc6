import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects the garbage of the start, a quarter of the heap, and returns its memory to the operating system. V8 derives
 * later heap growth from the live size after this collection (`--heap-growing-percent`). This function blocks, so call
 * it before the service listens.
 */
export function settleHeap(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
}

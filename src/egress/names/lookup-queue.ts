import { LookupFailed } from './lookup-failed.js';

export interface LookupQueueLimits {
  runningMax: number;
  runningOfOneMax: number;
  /** Maximum number of waiting lookups in total. Further lookups fail immediately. */
  waitingMax: number;
  waitingOfOneMax: number;
}

/** A waiting lookup. `start` receives a function that releases the slot. */
interface Waiter {
  start: (release: () => void) => void;
}

interface Share {
  running: number;
  waiting: Set<Waiter>;
}

/** Limits concurrent lookups in total and per share (a group of names). Waiting lookups start round-robin by share. */
export class LookupQueue {
  private running = 0;
  private waiting = 0;
  private readonly shares = new Map<string, Share>();
  /** Shares (groups of names) that have waiting lookups and may start another one, in round-robin order. */
  private readonly ready = new Set<string>();

  constructor(private readonly limits: LookupQueueLimits) {}

  /** Waits for a slot and resolves with the function that releases it. Rejects with `EBUSY` or the signal's reason. */
  take(key: string, signal: AbortSignal): Promise<() => void> {
    const share = this.shares.get(key) ?? { running: 0, waiting: new Set() };
    const { runningMax, runningOfOneMax, waitingMax, waitingOfOneMax } = this.limits;
    if (this.running < runningMax && share.running < runningOfOneMax) return Promise.resolve(this.begin(key, share));
    if (this.waiting >= waitingMax || share.waiting.size >= waitingOfOneMax)
      return Promise.reject(new LookupFailed('EBUSY'));
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        start: (release) => {
          signal.removeEventListener('abort', leave);
          resolve(release);
        },
      };
      const leave = (): void => {
        share.waiting.delete(waiter);
        this.waiting -= 1;
        this.settle(key, share);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      share.waiting.add(waiter);
      this.waiting += 1;
      this.shares.set(key, share);
      this.settle(key, share);
    });
  }

  figures(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting };
  }

  private begin(key: string, share: Share): () => void {
    share.running += 1;
    this.running += 1;
    this.shares.set(key, share);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      share.running -= 1;
      this.running -= 1;
      this.settle(key, share);
      this.startNext();
    };
  }

  private startNext(): void {
    for (const key of this.ready) {
      if (this.running >= this.limits.runningMax) return;
      const share = this.shares.get(key);
      const [waiter] = share?.waiting ?? [];
      if (share === undefined || waiter === undefined) continue;
      share.waiting.delete(waiter);
      this.waiting -= 1;
      // Moves this group of names (share) to the end of the round-robin order: `settle` appends it again.
      this.ready.delete(key);
      const release = this.begin(key, share);
      this.settle(key, share);
      waiter.start(release);
    }
  }

  private settle(key: string, share: Share): void {
    if (share.waiting.size > 0 && share.running < this.limits.runningOfOneMax) this.ready.add(key);
    else this.ready.delete(key);
    if (share.waiting.size === 0 && share.running === 0) this.shares.delete(key);
  }
}

/**
 * Returns the group (share) of a name: its last two labels, or three for suffixes like `co.uk`. A wrong group only adds
 * delay.
 */
export function shareOf(name: string): string {
  const labels = name.split('.').filter((label) => label !== '');
  const second = labels.at(-2) ?? '';
  return labels.slice(second.length <= SHORT_LABEL ? -3 : -2).join('.');
}

const SHORT_LABEL = 3;

import type { AdaptiveLinger } from '../concurrency/adaptive-linger.js';

interface Waiting<T, R> {
  item: T;
  /** Time of arrival on the monotonic clock, in milliseconds. */
  sinceMs: number;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

export interface GroupCommitOptions<T, R> {
  /** Writes the items. Returns one result per item, in order. An Error in the results rejects only that item. */
  write: (items: T[]) => Promise<(R | Error)[]>;
  /**
   * Returns whether an error of `write` concerns a single item and not the storage. In this case, each item is written
   * again separately, in order. If omitted, an error rejects all items.
   */
  isOfOne?: (error: unknown) => boolean;
  itemsMax: number;
  /** Returns the size of an item in bytes. The size of a group is limited, so groups of large items have fewer items. */
  weigh: (item: T) => number;
  weightMax: number;
  /** Time to wait for further items. With 0, items are written as soon as the previous group is written. */
  lingerMs: number;
  /**
   * Minimum time between the starts of two groups, so that a busy service commits less often. An idle service commits
   * immediately.
   */
  gapMs: number;
  /** Decides whether to linger longer than `lingerMs`. If omitted, groups never linger longer. */
  adaptiveLinger?: AdaptiveLinger;
}

/**
 * A group of waiting items that a caller writes in its own commit. Only the first call of `arrived` or `missed` has an
 * effect.
 */
export interface Carried<T, R> {
  readonly items: T[];
  /** Reports that the items are written, with one result per item, in order. */
  arrived: (results: (R | Error)[]) => void;
  /** Reports that the items are not written. The group commit then writes them as usual. */
  missed: () => void;
}

/** If a write fails, waiting items above this age are rejected too, so that they do not wait even longer. */
const LATE_MS = 1_000;

/**
 * Groups concurrent writes, so that one commit writes many items under load. Items that arrive while a group is being
 * written form the next group. A single item waits only for `lingerMs`.
 */
export class GroupCommit<T, R> {
  private waiting: Waiting<T, R>[] = [];
  private weight = 0;
  private writing = false;
  private timer: NodeJS.Timeout | null = null;
  private startedAtMs = -Infinity;
  /** Linger of the group that is forming, computed when its first item arrives. */
  private chosenLingerMs: number | null = null;
  private carried = 0;
  private readonly idle: (() => void)[] = [];

  constructor(private readonly options: GroupCommitOptions<T, R>) {}

  /** Weight in bytes of the items that are not written yet. */
  get backlogWeight(): number {
    return this.weight;
  }

  get backlog(): number {
    return this.waiting.length;
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      const sinceMs = performance.now();
      this.options.adaptiveLinger?.recordArrival(sinceMs);
      this.waiting.push({ item, sinceMs, resolve, reject });
      this.weight += this.options.weigh(item);
      this.schedule(sinceMs);
    });
  }

  /** Resolves when no item waits and no write is running. */
  drained(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.idle.push(resolve));
  }

  /**
   * Returns the waiting items, which the caller then writes in its own commit. Null if no item waits. Can be called
   * while this group commit writes other items.
   */
  carry(): Carried<T, R> | null {
    if (this.waiting.length === 0) return null;
    const group = this.nextGroup();
    if (this.waiting.length === 0 && this.timer) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    this.carried += 1;
    let hasEnded = false;
    const end = (how: () => void | Promise<void>): void => {
      if (hasEnded) return;
      hasEnded = true;
      void Promise.resolve(how()).finally(() => {
        this.carried -= 1;
        this.rest();
      });
    };
    return {
      items: group.map(({ item }) => item),
      arrived: (results) => end(() => answer(group, results)),
      missed: () => end(() => this.write(group)),
    };
  }

  private isIdle(): boolean {
    return !this.writing && this.waiting.length === 0 && this.carried === 0;
  }

  private rest(): void {
    if (this.isIdle()) for (const resolve of this.idle.splice(0)) resolve();
  }

  private schedule(nowMs: number): void {
    if (this.writing) return;
    const { lingerMs, gapMs, itemsMax, adaptiveLinger } = this.options;
    if (this.timer) {
      if (
        this.waiting.length < itemsMax &&
        this.waiting.length !== adaptiveLinger?.batchSize &&
        !this.isComplete(nowMs)
      )
        return;
      clearTimeout(this.timer);
    }
    const restMs = Math.max(lingerMs, this.startedAtMs + gapMs - nowMs, this.adaptiveLingerMs(nowMs));
    if (restMs > 0 && this.waiting.length < itemsMax) {
      this.timer = setTimeout(() => this.flush(), Math.ceil(restMs));
    } else {
      // Waits one event loop iteration, because all requests that Node.js reads from its sockets in this iteration can
      // then share the group.
      this.writing = true;
      setImmediate(() => this.flush());
    }
  }

  private adaptiveLingerMs(nowMs: number): number {
    const { adaptiveLinger } = this.options;
    const [first] = this.waiting;
    if (!adaptiveLinger || !first || this.waiting.length >= adaptiveLinger.batchSize) return 0;
    this.chosenLingerMs ??= adaptiveLinger.lingerMs(nowMs);
    return this.isComplete(nowMs) ? 0 : first.sinceMs + this.chosenLingerMs - nowMs;
  }

  /** Returns whether to write now, because no other item is likely to arrive in time. */
  private isComplete(nowMs: number): boolean {
    const { adaptiveLinger } = this.options;
    const [first] = this.waiting;
    if (
      !adaptiveLinger ||
      !first ||
      !this.chosenLingerMs ||
      this.waiting.length === 1 ||
      this.waiting.length > adaptiveLinger.batchSize
    )
      return false;
    return adaptiveLinger.isComplete(first.sinceMs + this.chosenLingerMs - nowMs);
  }

  private flush(): void {
    const { adaptiveLinger } = this.options;
    this.timer = null;
    this.writing = true;
    this.startedAtMs = performance.now();
    const group = this.nextGroup();
    if (group.length === 0) return this.settled();
    if ((this.chosenLingerMs ?? 0) > 0)
      adaptiveLinger?.recordDeparture((group.at(-1)?.sinceMs ?? 0) - (group[0]?.sinceMs ?? 0));
    this.chosenLingerMs = null;
    void this.write(group).finally(() => {
      adaptiveLinger?.recordWrite(performance.now() - this.startedAtMs);
      this.settled();
    });
  }

  private settled(): void {
    this.writing = false;
    if (this.waiting.length > 0) this.schedule(performance.now());
    else this.rest();
  }

  private nextGroup(): Waiting<T, R>[] {
    const { itemsMax, weigh, weightMax } = this.options;
    let weight = 0;
    let count = 0;
    while (count < this.waiting.length && count < itemsMax) {
      weight += weigh((this.waiting[count] as Waiting<T, R>).item);
      if (count > 0 && weight > weightMax) break;
      count += 1;
    }
    const group = this.waiting.splice(0, count);
    for (const { item } of group) this.weight -= weigh(item);
    return group;
  }

  private async write(group: Waiting<T, R>[]): Promise<void> {
    try {
      answer(group, await this.options.write(group.map(({ item }) => item)));
    } catch (error) {
      if (this.options.isOfOne?.(error) !== true) return refuse([...group, ...this.late()], error);
      if (group.length === 1) return refuse(group, error);
      for (const each of group) await this.write([each]);
    }
  }

  private late(): Waiting<T, R>[] {
    const beforeMs = performance.now() - LATE_MS;
    const count = this.waiting.findIndex(({ sinceMs }) => sinceMs > beforeMs);
    const late = this.waiting.splice(0, count === -1 ? this.waiting.length : count);
    for (const { item } of late) this.weight -= this.options.weigh(item);
    return late;
  }
}

function answer<T, R>(group: readonly Waiting<T, R>[], results: readonly (R | Error)[]): void {
  for (const [i, { resolve, reject }] of group.entries()) {
    const result = results[i] as R | Error;
    if (result instanceof Error) reject(result);
    else resolve(result);
  }
}

function refuse<T, R>(items: readonly Waiting<T, R>[], error: unknown): void {
  for (const { reject } of items) reject(error);
}

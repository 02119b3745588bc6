import type { AdaptiveLinger } from '../concurrency/adaptive-linger.js';

/** One thing that waits for the next commit. */
interface Waiting<T, R> {
  item: T;
  /** By the monotonic clock. */
  sinceMs: number;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/** How a group commit writes and how large its groups may get. */
export interface GroupCommitOptions<T, R> {
  /** Writes a group; returns one result for each item, in order. An Error among them rejects that item alone. */
  write: (items: T[]) => Promise<(R | Error)[]>;
  /**
   * Whether an error of `write` is about one of its items, and not about storage: then each is written again by itself, in their order, so
   * that what is refused of one does not fail those that travelled with it. Left out, an error is that of all.
   */
  isOfOne?: (error: unknown) => boolean;
  itemsMax: number;
  /** Weight of an item, and of a group: bytes, so that large bodies make small groups. */
  weigh: (item: T) => number;
  weightMax: number;
  /** How long an item may wait for company; 0 writes as soon as the last group is through. */
  lingerMs: number;
  /** Least time between the starts of two groups: a busy service commits less often, an idle one still at once. */
  gapMs: number;
  /** Whether others are worth a wait beyond that; left out, nobody waits for them. */
  company?: AdaptiveLinger;
}

/** What is written with something else: in one of two ways it ends, and the first one counts. */
export interface Carried<T, R> {
  readonly items: T[];
  /** They are written: a result for each, in order. */
  arrived: (results: (R | Error)[]) => void;
  /** They are not: `write` does it, as ever. */
  missed: () => void;
}

/** What waited for so long behind a group that could not be written is refused with it: it would wait as long again. */
const LATE_MS = 1_000;

/**
 * Group commit: what comes in while one group is being written becomes the next one. Under load one commit serves
 * many; an idle service answers at once, since an item that comes alone waits for `lingerMs` only.
 */
export class GroupCommit<T, R> {
  private waiting: Waiting<T, R>[] = [];
  private weight = 0;
  private writing = false;
  private timer: NodeJS.Timeout | null = null;
  private startedAtMs = -Infinity;
  /** For the group that gathers: asked when its first one is there. */
  private patienceMs: number | null = null;
  private carried = 0;
  private readonly idle: (() => void)[] = [];

  constructor(private readonly options: GroupCommitOptions<T, R>) {}

  /** Weight of the items that are not written yet. */
  get backlogWeight(): number {
    return this.weight;
  }

  /** Items that are not written yet. */
  get backlog(): number {
    return this.waiting.length;
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      const sinceMs = performance.now();
      this.options.company?.recordArrival(sinceMs);
      this.waiting.push({ item, sinceMs, resolve, reject });
      this.weight += this.options.weigh(item);
      this.schedule(sinceMs);
    });
  }

  /** Resolves when nothing waits and nothing is being written. */
  drained(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.idle.push(resolve));
  }

  /** Hands over what waits to who writes it with something of his own; null while nothing does. What gathers behind a write goes along, too. */
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
    const { lingerMs, gapMs, itemsMax, company } = this.options;
    if (this.timer) {
      if (this.waiting.length < itemsMax && this.waiting.length !== company?.batchSize && !this.isComplete(nowMs))
        return;
      clearTimeout(this.timer);
    }
    const restMs = Math.max(lingerMs, this.startedAtMs + gapMs - nowMs, this.companyMs(nowMs));
    if (restMs > 0 && this.waiting.length < itemsMax) {
      this.timer = setTimeout(() => this.flush(), Math.ceil(restMs));
    } else {
      // One turn of the event loop lets everything that was read from the sockets together travel together.
      this.writing = true;
      setImmediate(() => this.flush());
    }
  }

  /** How much longer those who wait do so for company. */
  private companyMs(nowMs: number): number {
    const { company } = this.options;
    const [first] = this.waiting;
    if (!company || !first || this.waiting.length >= company.batchSize) return 0;
    this.patienceMs ??= company.lingerMs(nowMs);
    return this.isComplete(nowMs) ? 0 : first.sinceMs + this.patienceMs - nowMs;
  }

  /** Whether a group that waits for company has what is to be expected. */
  private isComplete(nowMs: number): boolean {
    const { company } = this.options;
    const [first] = this.waiting;
    if (!company || !first || !this.patienceMs || this.waiting.length === 1 || this.waiting.length > company.batchSize)
      return false;
    return company.isComplete(first.sinceMs + this.patienceMs - nowMs);
  }

  private flush(): void {
    const { company } = this.options;
    this.timer = null;
    this.writing = true;
    this.startedAtMs = performance.now();
    const group = this.nextGroup();
    if (group.length === 0) return this.settled();
    if ((this.patienceMs ?? 0) > 0) company?.recordDeparture((group.at(-1)?.sinceMs ?? 0) - (group[0]?.sinceMs ?? 0));
    this.patienceMs = null;
    void this.write(group).finally(() => {
      company?.recordWrite(performance.now() - this.startedAtMs);
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

import type { Id } from '#kernel/ids.js';

/** What one environment has of the room of this process. */
interface EnvironmentShare {
  environmentId: number;
  /** Its own number until its organization is known: it counts as one by itself. */
  organization: Id;
  running: number;
  held: number;
  /** Waits for nothing but this machine's time. */
  ready: number;
}

type Figure = 'running' | 'held';

/** What an organization has of it, with the number of its environments that have something. */
interface Sum {
  running: number;
  held: number;
  environments: number;
}

/** What waits in one environment, in the order in which it came. */
interface Waiting<Waiter> {
  /** Who has a first attempt to make. */
  first: Set<Waiter>;
  /** Who has nothing but retries, and is not looked at while those have their part. */
  retry: Set<Waiter>;
  /** Where both wait they take turns. */
  retryIsNext: boolean;
}

/** Which places are free. */
export interface SlotLimits {
  /** Only those beyond the ceiling: for who runs no more than its part. */
  isFull: boolean;
  mayRetry: boolean;
}

/**
 * Who has which part of the lane, by organization and then by environment, and who waits for a place in it. One tenant alone
 * may have all of it; where others wait, places go to who has least. Giving a place to the next one costs as much as there are
 * environments that wait, however many of their targets do.
 */
export class FairShare<Waiter> {
  private readonly fairShare = new Map<number, EnvironmentShare>();
  private readonly waiting = new Map<number, Waiting<Waiter>>();
  private readonly organizations = new Map<number, Id>();
  /** The sums of the shares, kept up with every change. */
  private readonly all = { running: 0, held: 0 };
  private readonly sums = new Map<Id, Sum>();

  constructor(private readonly find: (environmentId: number) => Promise<Id>) {}

  /** Attempts under way: more, or fewer. */
  run(environmentId: number, change: number): void {
    this.change(environmentId, 'running', change);
  }

  /** Deliveries held, running or waiting: more, or fewer. */
  hold(environmentId: number, change: number): void {
    this.change(environmentId, 'held', change);
  }

  /** Deliveries that wait for nothing but this machine's time: more, or fewer. */
  makeReady(environmentId: number, change: number): void {
    const share = this.fairShare.get(environmentId) ?? this.begin(environmentId);
    share.ready += change;
    this.endIfEmpty(share);
  }

  /** How many of those there are of the environment. */
  ready(environmentId: number): number {
    return this.fairShare.get(environmentId)?.ready ?? 0;
  }

  /** Attempts of the environment that are under way. */
  running(environmentId: number): number {
    return this.fairShare.get(environmentId)?.running ?? 0;
  }

  /** Waits at the end; who waits already keeps its place. */
  wait(environmentId: number, waiter: Waiter, kind: 'first' | 'retry'): void {
    let waiting = this.waiting.get(environmentId);
    if (!waiting)
      this.waiting.set(environmentId, (waiting = { first: new Set(), retry: new Set(), retryIsNext: false }));
    waiting[kind === 'first' ? 'retry' : 'first'].delete(waiter);
    waiting[kind].add(waiter);
  }

  removeWaiter(environmentId: number, waiter: Waiter): void {
    const waiting = this.waiting.get(environmentId);
    if (!waiting) return;
    waiting.first.delete(waiter);
    waiting.retry.delete(waiter);
    if (waiting.first.size + waiting.retry.size === 0) this.waiting.delete(environmentId);
  }

  isAnyWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /**
   * Takes out whose turn it is: of the organization with the fewest attempts under way, of its environment with the fewest, who
   * waits longest. Null when nobody waits for a place of those that are free.
   */
  next({ isFull, mayRetry }: SlotLimits): Waiter | null {
    let best: {
      environmentId: number;
      waiting: Waiting<Waiter>;
      ofOrganization: number;
      ofEnvironment: number;
    } | null = null;
    for (const [environmentId, waiting] of this.waiting) {
      if (waiting.first.size === 0 && !mayRetry) continue;
      if (isFull && this.isAboveShare(environmentId, 'running')) continue;
      const share = this.fairShare.get(environmentId);
      const [ofOrganization, ofEnvironment] = share ? [this.sum(share).running, share.running] : [0, 0];
      if (
        best &&
        (best.ofOrganization < ofOrganization ||
          (best.ofOrganization === ofOrganization && best.ofEnvironment <= ofEnvironment))
      )
        continue;
      best = { environmentId, waiting, ofOrganization, ofEnvironment };
    }
    if (best === null) return null;
    const { environmentId, waiting } = best;
    const isRetry = mayRetry && waiting.retry.size > 0 && (waiting.first.size === 0 || waiting.retryIsNext);
    waiting.retryIsNext = !isRetry;
    const [waiter] = (isRetry ? waiting.retry : waiting.first) as Iterable<Waiter> as [Waiter];
    this.removeWaiter(environmentId, waiter);
    return waiter;
  }

  /** Whether an environment holds more than its part, or runs more: an equal one of its organization's, which is an equal one of all. */
  isAboveShare(environmentId: number, figure: Figure = 'held'): boolean {
    const share = this.fairShare.get(environmentId);
    return share !== undefined && this.isAbove(share, figure);
  }

  /** The environments that hold more than their part. */
  aboveShare(): number[] {
    return [...this.fairShare.values()]
      .filter((share) => this.isAbove(share, 'held'))
      .map(({ environmentId }) => environmentId);
  }

  private isAbove(environmentShare: EnvironmentShare, figure: Figure): boolean {
    const { [figure]: own, environments } = this.sum(environmentShare);
    // One that is not here yet would have a part as well.
    return own > this.all[figure] / (this.sums.size + 1) && environmentShare[figure] > own / (environments + 1);
  }

  private change(environmentId: number, figure: Figure, change: number): void {
    const share = this.fairShare.get(environmentId) ?? this.begin(environmentId);
    share[figure] += change;
    this.all[figure] += change;
    this.sum(share)[figure] += change;
    this.endIfEmpty(share);
  }

  private begin(environmentId: number): EnvironmentShare {
    const environmentShare: EnvironmentShare = {
      environmentId,
      organization: this.organizations.get(environmentId) ?? nameless(environmentId),
      running: 0,
      held: 0,
      ready: 0,
    };
    this.fairShare.set(environmentId, environmentShare);
    this.sum(environmentShare).environments += 1;
    if (!this.organizations.has(environmentId)) this.loadOrganization(environmentId);
    return environmentShare;
  }

  private endIfEmpty(environmentShare: EnvironmentShare): void {
    if (environmentShare.running > 0 || environmentShare.held > 0 || environmentShare.ready > 0) return;
    this.fairShare.delete(environmentShare.environmentId);
    this.leave(environmentShare);
  }

  private sum({ organization }: EnvironmentShare): Sum {
    let sum = this.sums.get(organization);
    if (!sum) this.sums.set(organization, (sum = { running: 0, held: 0, environments: 0 }));
    return sum;
  }

  /** Takes a share out of its organization's sum. */
  private leave(environmentShare: EnvironmentShare): void {
    const sum = this.sum(environmentShare);
    sum.running -= environmentShare.running;
    sum.held -= environmentShare.held;
    sum.environments -= 1;
    if (sum.environments === 0) this.sums.delete(environmentShare.organization);
  }

  private assignOrganization(environmentShare: EnvironmentShare, organization: Id): void {
    this.leave(environmentShare);
    environmentShare.organization = organization;
    const sum = this.sum(environmentShare);
    sum.running += environmentShare.running;
    sum.held += environmentShare.held;
    sum.environments += 1;
  }

  private loadOrganization(environmentId: number): void {
    this.find(environmentId).then(
      (organization) => {
        this.organizations.set(environmentId, organization);
        const share = this.fairShare.get(environmentId);
        if (share) this.assignOrganization(share, organization);
      },
      // It is asked again when the environment comes back.
      () => undefined,
    );
  }
}

const nameless = (environmentId: number): Id => `environment ${environmentId}`;

import type { Id } from '#kernel/ids.js';

interface EnvironmentShare {
  environmentId: number;
  /** Organization of the environment, or a unique placeholder until the organization is loaded. */
  organization: Id;
  running: number;
  held: number;
  /** Number of deliveries that are ready but waiting for CPU. */
  ready: number;
}

type Figure = 'running' | 'held';

interface Sum {
  running: number;
  held: number;
  environments: number;
}

interface Waiting<Waiter> {
  first: Set<Waiter>;
  /** Waiters that have only retries to send. `next` skips them while retries use their full share of the slots. */
  retry: Set<Waiter>;
  /** True if the environment's next delivery is a retry. First attempts and retries alternate if both kinds wait. */
  retryIsNext: boolean;
}

export interface SlotLimits {
  /**
   * True if only the slots reserved above the concurrency limit are free. Environments above their fair share cannot
   * use them.
   */
  isFull: boolean;
  mayRetry: boolean;
}

/**
 * Shares the local scheduler's slots among organizations, then among an organization's environments. A single tenant
 * may use all slots. While several tenants wait, a free slot goes to the tenant that uses the fewest. The cost of this
 * choice grows with the number of waiting environments, not of waiting targets.
 */
export class FairShare<Waiter> {
  private readonly fairShare = new Map<number, EnvironmentShare>();
  private readonly waiting = new Map<number, Waiting<Waiter>>();
  private readonly organizations = new Map<number, Id>();
  private readonly all = { running: 0, held: 0 };
  private readonly sums = new Map<Id, Sum>();

  constructor(private readonly find: (environmentId: number) => Promise<Id>) {}

  run(environmentId: number, change: number): void {
    this.change(environmentId, 'running', change);
  }

  hold(environmentId: number, change: number): void {
    this.change(environmentId, 'held', change);
  }

  makeReady(environmentId: number, change: number): void {
    const share = this.fairShare.get(environmentId) ?? this.begin(environmentId);
    share.ready += change;
    this.endIfEmpty(share);
  }

  ready(environmentId: number): number {
    return this.fairShare.get(environmentId)?.ready ?? 0;
  }

  running(environmentId: number): number {
    return this.fairShare.get(environmentId)?.running ?? 0;
  }

  /** Appends a waiter to its environment's queue. A waiter that is already in the queue keeps its position. */
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
   * Removes and returns the longest-waiting waiter of the environment with the fewest attempts in flight, within the
   * organization with the fewest attempts in flight. Returns null if no waiter may use the free slots.
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

  /**
   * Returns whether an environment is above its fair share. The organization must have more than an equal share of the
   * capacity, and the environment more than an equal share of the organization's part.
   */
  isAboveShare(environmentId: number, figure: Figure = 'held'): boolean {
    const share = this.fairShare.get(environmentId);
    return share !== undefined && this.isAbove(share, figure);
  }

  aboveShare(): number[] {
    return [...this.fairShare.values()]
      .filter((share) => this.isAbove(share, 'held'))
      .map(({ environmentId }) => environmentId);
  }

  private isAbove(environmentShare: EnvironmentShare, figure: Figure): boolean {
    const { [figure]: own, environments } = this.sum(environmentShare);
    // Divides by one more than the number of active organizations or environments, so that a new tenant finds free
    // capacity.
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
      // A failed load of the organization is repeated when the environment becomes active again.
      () => undefined,
    );
  }
}

const nameless = (environmentId: number): Id => `environment ${environmentId}`;

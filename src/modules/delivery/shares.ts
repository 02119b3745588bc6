import type { Id } from '#kernel/ids.js';

/** What one environment has of the room of this process. */
interface Share {
  environmentId: number;
  /** Its own number until its organization is known: it counts as one by itself. */
  organization: Id;
  running: number;
  held: number;
}

type Figure = 'running' | 'held';

/** What an organization has of it, with the number of its environments that have something. */
interface Sum {
  running: number;
  held: number;
  environments: number;
}

interface Sums {
  all: { running: number; held: number };
  byOrganization: Map<Id, Sum>;
}

/**
 * Who has which part of the lane, by organization and then by environment, and who waits for a place in it. One tenant alone
 * may have all of it; where others wait, places go to who has least.
 */
export class Shares<Waiter> {
  private readonly shares = new Map<number, Share>();
  private readonly waiting = new Map<number, Set<Waiter>>();
  private readonly organizations = new Map<number, Id>();

  constructor(private readonly organizationOf: (environmentId: number) => Promise<Id>) {}

  /** Attempts under way: more, or fewer. */
  run(environmentId: number, change: number): void {
    const share = this.share(environmentId);
    share.running += change;
    this.forget(share);
  }

  /** Deliveries held, running or waiting: more, or fewer. */
  hold(environmentId: number, change: number): void {
    const share = this.share(environmentId);
    share.held += change;
    this.forget(share);
  }

  wait(environmentId: number, waiter: Waiter): void {
    const waiters = this.waiting.get(environmentId);
    if (waiters) waiters.add(waiter);
    else this.waiting.set(environmentId, new Set([waiter]));
  }

  waitNoMore(environmentId: number, waiter: Waiter): void {
    const waiters = this.waiting.get(environmentId);
    if (waiters?.delete(waiter) && waiters.size === 0) this.waiting.delete(environmentId);
  }

  isAnyWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /**
   * Whose turn it is: of the organization with the fewest attempts under way, of its environment with the fewest, who waits
   * longest. `isFull`: only of those that run no more than their part.
   */
  next(passedOver: ReadonlySet<Waiter>, isFull = false): Waiter | null {
    const sums = isFull || this.waiting.size > 1 ? this.sums() : null;
    let best: { waiter: Waiter; ofOrganization: number; ofEnvironment: number } | null = null;
    for (const [environmentId, waiters] of this.waiting) {
      const share = this.share(environmentId);
      if (isFull && sums && isAbove(share, sums, 'running')) continue;
      const [ofOrganization, ofEnvironment] = [sums?.byOrganization.get(share.organization)?.running ?? 0, share.running];
      if (best && (best.ofOrganization < ofOrganization || (best.ofOrganization === ofOrganization && best.ofEnvironment <= ofEnvironment))) continue;
      for (const waiter of waiters) {
        if (passedOver.has(waiter)) continue;
        best = { waiter, ofOrganization, ofEnvironment };
        break;
      }
    }
    return best?.waiter ?? null;
  }

  /** Whether an environment holds more than its part, or runs more: an equal one of its organization's, which is an equal one of all. */
  isAboveShare(environmentId: number, figure: Figure = 'held'): boolean {
    const share = this.shares.get(environmentId);
    return share !== undefined && isAbove(share, this.sums(), figure);
  }

  /** The environments that hold more than their part. */
  aboveShare(): number[] {
    const sums = this.sums();
    return [...this.shares.values()].filter((share) => isAbove(share, sums, 'held')).map(({ environmentId }) => environmentId);
  }

  private sums(): Sums {
    const all = { running: 0, held: 0 };
    const byOrganization = new Map<Id, Sum>();
    for (const { organization, running, held } of this.shares.values()) {
      all.running += running;
      all.held += held;
      const sum = byOrganization.get(organization);
      if (!sum) {
        byOrganization.set(organization, { running, held, environments: 1 });
        continue;
      }
      sum.running += running;
      sum.held += held;
      sum.environments += 1;
    }
    return { all, byOrganization };
  }

  private share(environmentId: number): Share {
    let share = this.shares.get(environmentId);
    if (!share) {
      share = { environmentId, organization: this.organizations.get(environmentId) ?? `environment ${environmentId}`, running: 0, held: 0 };
      this.shares.set(environmentId, share);
      if (!this.organizations.has(environmentId)) this.learn(environmentId);
    }
    return share;
  }

  private learn(environmentId: number): void {
    this.organizationOf(environmentId).then(
      (organization) => {
        this.organizations.set(environmentId, organization);
        const share = this.shares.get(environmentId);
        if (share) share.organization = organization;
      },
      // It is asked again when the environment comes back.
      () => undefined,
    );
  }

  private forget(share: Share): void {
    if (share.running === 0 && share.held === 0) this.shares.delete(share.environmentId);
  }
}

function isAbove(share: Share, { all, byOrganization }: Sums, figure: Figure): boolean {
  const { [figure]: own = 0, environments = 0 } = byOrganization.get(share.organization) ?? {};
  // One that is not here yet would have a part as well.
  return own > all[figure] / (byOrganization.size + 1) && share[figure] > own / (environments + 1);
}

import { Injectable } from '@nestjs/common';
import type { Condition } from '#engine/conditions/condition.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import { conflict } from '#kernel/errors.js';
import { Targets } from '#modules/destinations/targets.js';
import type { Arrival } from '#modules/ledger/accept.contract.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import type { LiveRoute } from './contract.js';
import type { LiveEndpoint } from './live-endpoint.js';

@Injectable()
export class Routing {
  constructor(
    private readonly targets: Targets,
    private readonly rules: RuleEvaluator,
  ) {}

  /** Returns one delivery per matching route. Null if filters took too long. Throws 503 if no thread is free. */
  async route(endpoint: LiveEndpoint, view: RequestView): Promise<Omit<Arrival, 'payload'>[] | null> {
    const matching = await this.matching(endpoint, view);
    if (matching === null) return null;
    const { environmentId } = endpoint;
    // Starts to load the settings of all destinations before it awaits the first one.
    const settings = matching.map(({ destinationId: targetId }) => ({
      targetId,
      queueing: this.targets.queueing(environmentId, targetId),
    }));
    const arrivals: Omit<Arrival, 'payload'>[] = [];
    for (const { targetId, queueing } of settings)
      arrivals.push({ environmentId, targetId, ...(queueing instanceof Promise ? await queueing : queueing) });
    return arrivals;
  }

  /**
   * Returns one delivery per matching route whose destination is active. Null if filters took too long. Throws 409 if
   * all matching destinations are disabled or deleted, and 503 if no thread is free.
   */
  async routeAgain(endpoint: LiveEndpoint, view: RequestView): Promise<Omit<Arrival, 'payload'>[] | null> {
    const arrivals = await this.route(endpoint, view);
    if (arrivals === null) return null;
    // A destination that cannot be loaded now counts as active, so that it does not block the replay.
    const takes = await Promise.all(
      arrivals.map(({ environmentId, targetId }) =>
        this.targets.ofDestination(environmentId, targetId).then(
          (target) => target?.status === 'active',
          () => true,
        ),
      ),
    );
    const taken = arrivals.filter((_, i) => takes[i]);
    if (taken.length === 0 && arrivals.length > 0) {
      throw conflict('All destinations that the request would go to are disabled or were deleted. Change that first.', {
        reason: 'disabled',
      });
    }
    return taken;
  }

  private async matching({ organizationId, id, routes }: LiveEndpoint, view: RequestView): Promise<LiveRoute[] | null> {
    const verdicts = await this.verdicts(
      { organization: organizationId, endpoint: id },
      routes.map(({ filter }) => filter),
      view,
    );
    return verdicts.includes(null) ? null : routes.filter((_, at) => verdicts[at]);
  }

  /**
   * Returns whether each filter matches, or `null` if unknown. Returns a promise only if a filter is too slow for this
   * thread and runs in another one.
   */
  verdicts(
    owner: { organization: string; endpoint: string },
    filters: readonly (Condition | null)[],
    view: RequestView,
  ): (boolean | null)[] | Promise<(boolean | null)[]> {
    const verdicts = filters.map((filter) => {
      const holds = filter === null || filter.matches(view);
      return filter !== null && view.isExhausted ? null : holds;
    });
    const open = filters.flatMap((filter, at): { filter: Condition; at: number }[] =>
      verdicts[at] === null && filter ? [{ filter, at }] : [],
    );
    return open.length === 0 ? verdicts : this.judged(owner, verdicts, open, view);
  }

  /** Evaluates the filters in `open` on another thread, and returns `verdicts` with their results filled in. */
  private async judged(
    owner: { organization: string; endpoint: string },
    verdicts: readonly (boolean | null)[],
    open: readonly { filter: Condition; at: number }[],
    view: RequestView,
  ): Promise<(boolean | null)[]> {
    const judged = await this.rules.filters(
      owner,
      open.map(({ filter }) => filter),
      view,
    );
    const byPlace = new Map(open.map(({ at }, i) => [at, judged[i] ?? null]));
    return verdicts.map((verdict, at) => byPlace.get(at) ?? verdict);
  }
}

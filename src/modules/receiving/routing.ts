import { Injectable } from '@nestjs/common';
import type { RequestView } from '#engine/conditions/request-view.js';
import { conflict } from '#kernel/errors.js';
import type { Queueing } from '#modules/destinations/contract.js';
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

  /**
   * Returns one delivery per matching route. Null if filters took too long. Throws 503 if no thread is free, or while
   * storage is unavailable.
   */
  async route(endpoint: LiveEndpoint, view: RequestView): Promise<Omit<Arrival, 'payload'>[] | null> {
    const matching = await this.matching(endpoint, view);
    if (matching === null) return null;
    const { environmentId } = endpoint;
    const settings = matching.map(({ destinationId }) => this.targets.queueing(environmentId, destinationId));
    // Awaits only real promises, because most settings are cached.
    const loaded = settings.some((each) => each instanceof Promise)
      ? await Promise.all(settings.map(async (each) => each))
      : (settings as Queueing[]);
    return loaded.map((queueing, i) => ({
      environmentId,
      targetId: (matching[i] as LiveRoute).destinationId,
      ...queueing,
    }));
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
    const matches = await this.rules.matches(
      () => ({ organization: organizationId, endpoint: id }),
      routes.map(({ filter }) => filter),
      view,
    );
    return matches.includes(null) ? null : routes.filter((_, at) => matches[at]);
  }
}

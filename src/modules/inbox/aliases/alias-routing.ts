import { Injectable } from '@nestjs/common';
import { compileFilter, type Condition } from '#engine/conditions/condition.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { Targets } from '#modules/destinations/targets.js';
import type { Arrival } from '#modules/ledger/accept.contract.js';
import { RuleEvaluator } from '#sandbox/rule-evaluator.js';
import type { AliasEntity } from '../inbox.entities.js';
import type { WaitingMessage } from '../reading/waiting-messages.store.js';
import { AliasesStore } from './aliases.store.js';

const ENTRIES_MAX = 5_000;

/** Routes of an alias. A route with a null filter receives all mail. */
export interface AliasRoutes {
  environmentId: number;
  aliasId: Id;
  routes: readonly { destinationId: Id; filter: Condition | null }[];
}

/** Selects an alias's destinations whose filters match a received message. Each destination gets one delivery. */
@Injectable()
export class AliasRouting {
  /** Cache of aliases' routes. Routes are loaded again if a message was claimed with a newer version of its alias. */
  private readonly cache: Cache<AliasRoutes>;

  constructor(
    private readonly aliases: AliasesStore,
    private readonly targets: Targets,
    private readonly environments: Environments,
    private readonly rules: RuleEvaluator,
    clock: Clock,
    notifications: Notifications,
  ) {
    this.cache = new Cache((key) => this.load(key), { entriesMax: ENTRIES_MAX, nowMs: () => clock.monotonicMs() });
    notifications.on('alias', () => this.cache.clear());
  }

  /** Returns a message's deliveries. Null if a filter took too long. Throws 503 if filters cannot be evaluated now. */
  async arrivals(
    { environmentId, aliasId, destinationIds }: WaitingMessage,
    view: RequestView,
    payload: string,
  ): Promise<Arrival[] | null> {
    if (destinationIds.length === 0) return [];
    const routes = await this.cache.get(JSON.stringify([environmentId, aliasId, destinationIds]));
    const matching = await this.matching(routes, view);
    return (
      matching &&
      Promise.all(
        matching.map(async (targetId) => ({
          environmentId,
          targetId,
          payload,
          ...(await this.targets.queueing(environmentId, targetId)),
        })),
      )
    );
  }

  /**
   * Returns the destinations whose filters match. Null if a filter took too long. Throws 503 if filters cannot be
   * evaluated now.
   */
  async matching({ environmentId, aliasId, routes }: AliasRoutes, view: RequestView): Promise<Id[] | null> {
    const matches = await this.rules.matches(
      async () => ({
        organization: (await this.environments.get(environmentId)).organizationId,
        endpoint: aliasId,
      }),
      routes.map(({ filter }) => filter),
      view,
    );
    return matches.includes(null)
      ? null
      : routes.filter((_, at) => matches[at]).map(({ destinationId }) => destinationId);
  }

  private async load(key: string): Promise<AliasRoutes> {
    const [environmentId, aliasId, destinationIds] = JSON.parse(key) as [number, Id, Id[]];
    return routesOf({
      environmentId,
      id: aliasId,
      destinationIds,
      filters: await this.aliases.filters(environmentId, aliasId),
    });
  }
}

export function routesOf({
  environmentId,
  id,
  destinationIds,
  filters,
}: Pick<AliasEntity, 'environmentId' | 'id' | 'destinationIds' | 'filters'>): AliasRoutes {
  return {
    environmentId,
    aliasId: id,
    routes: destinationIds.map((destinationId) => ({ destinationId, filter: compiled(filters[destinationId]) })),
  };
}

/** Compiles a stored filter. It was compiled once before it was stored, so errors are unexpected. */
function compiled(filter: unknown): Condition | null {
  if (filter === undefined) return null;
  const result = compileFilter(filter, 'filter');
  if ('faults' in result) throw new Error(`A stored filter can't be read: ${result.faults[0]?.message}`);
  return result.condition;
}

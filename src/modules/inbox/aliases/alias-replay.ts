import { Injectable } from '@nestjs/common';
import { RequestView } from '#engine/conditions/request-view.js';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { invalid } from '#kernel/errors.js';
import { type Id, Ids, lowestIdAt } from '#kernel/ids.js';
import { momentMs } from '#kernel/moment.js';
import type { Tenant } from '#kernel/tenant.js';
import { type ReceivedRange, type ReceivedRow } from '#modules/events/received.contract.js';
import { ReceivedStore } from '#modules/events/received.store.js';
import { Redeliveries } from '#modules/ledger/redeliveries.js';
import { type Redelivered } from '#modules/ledger/redelivery.contract.js';
import { type AliasRoutes, AliasRouting, routesOf } from './alias-routing.js';
import { AliasesService } from './aliases.service.js';

/** Maximum number of messages per replay request. */
const MESSAGES_MAX = 1_000;
/**
 * Maximum number of messages per step if filters are evaluated. Lower than `MESSAGES_MAX`, because filters need the
 * bodies of these messages in memory.
 */
const MESSAGES_WITH_BODIES = 100;

export interface AliasReplayQuery {
  since?: string;
  until?: string;
  status?: string;
  dry_run?: boolean;
  cursor?: string;
}

export interface AliasReplayed {
  replayId: Id;
  aliasId: Id;
  isDryRun: boolean;
  scanned: number;
  replayed: number;
  enqueued: number;
  skipped: number;
  excluded: number;
  destinations: readonly Id[];
  nextCursor: string | null;
}

/** Sends received messages again, to the alias's current destinations. */
@Injectable()
export class AliasReplay {
  constructor(
    private readonly aliases: AliasesService,
    private readonly routing: AliasRouting,
    private readonly received: ReceivedStore,
    private readonly redeliveries: Redeliveries,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** Replays messages. Throws 404 for an unknown alias, 400 for an invalid cursor, and 422 for an invalid query. */
  async run(tenant: Tenant, alias: string, query: AliasReplayQuery): Promise<AliasReplayed> {
    const found = await this.aliases.find(tenant, alias);
    const { id: aliasId, destinationIds } = found;
    const { environmentId } = tenant;
    const { cursor, status = null, dry_run: isDryRun = false, since, until } = query;
    const list: CursorQuery = {
      list: `alias replay ${aliasId}`,
      filters: { since, until, status: query.status, isDryRun: String(isDryRun) },
    };
    const window = windowOf(query, this.clock.nowMs());
    const range = {
      environmentId,
      endpointId: aliasId,
      status,
      ...window,
      ...(cursor !== undefined && { beforeId: this.cursors.read(tenant, list, cursor) }),
    };
    if (since === undefined && until === undefined && !isDryRun) throw withoutWindow();
    const { scanned, excluded, sent, last } = await this.look(range, routesOf(found));
    const picked = sent.flatMap((one) => one);
    const enqueued =
      isDryRun || picked.length === 0
        ? picked.length
        : await this.database.transaction(() => this.redeliveries.redeliverTo(environmentId, picked));
    const replayed = sent.filter(({ length }) => length > 0).length;
    return {
      replayId: this.ids.next(),
      aliasId,
      isDryRun,
      scanned,
      replayed,
      enqueued,
      skipped: sent.length - replayed,
      excluded,
      destinations: destinationIds,
      nextCursor: last === null ? null : this.cursors.issue(tenant, list, last),
    };
  }

  /**
   * Returns the destinations of each message, oldest message first. `last` is the id of the last message that was read,
   * or null on the last page. Throws 503 when busy.
   */
  private async look(
    range: ReceivedRange,
    routes: AliasRoutes,
  ): Promise<{ scanned: number; excluded: number; sent: Redelivered[][]; last: Id | null }> {
    const hasFilters = routes.routes.some(({ filter }) => filter !== null);
    const page = { scanned: 0, excluded: 0, sent: [] as Redelivered[][], last: null as Id | null };
    const step = hasFilters ? MESSAGES_WITH_BODIES : MESSAGES_MAX;
    for (let seen = 0; seen < MESSAGES_MAX; seen += step) {
      const rows = await this.received.page({ ...range, beforeId: page.last ?? range.beforeId }, step, hasFilters);
      for (const row of rows.filter(({ inStatus }) => inStatus)) {
        const targets = await this.targetsOf(row, routes);
        page.scanned += 1;
        if (targets === null) page.excluded += 1;
        // Messages are read newest first, but the result is oldest first.
        else
          page.sent.unshift(
            targets.map((targetId) => ({
              eventId: row.id,
              expiresOn: row.expiresOn,
              targetId,
              endpointId: range.endpointId,
            })),
          );
      }
      page.last = rows.length === step ? (rows.at(-1)?.id ?? null) : null;
      if (page.last === null) break;
    }
    return page;
  }

  /** Returns a message's destinations. Null if the message is excluded from replays, or if a filter timed out. */
  private async targetsOf({ isExcluded, request }: ReceivedRow, routes: AliasRoutes): Promise<Id[] | null> {
    if (isExcluded) return null;
    if (request !== null) return this.routing.matching(routes, new RequestView(request, request.verification));
    return routes.routes.filter(({ filter }) => filter === null).map(({ destinationId }) => destinationId);
  }
}

/** Returns the error for a replay without a time range, which would send up to a year's mail again. */
const withoutWindow = () =>
  invalid([
    {
      path: 'since',
      message: 'is required unless until or dry_run is given: name the time range to replay, or count it with dry_run',
    },
  ]);

/** Returns the range of ids for a time range, which ends now at the latest. Throws 422 for an invalid time range. */
function windowOf({ since, until }: AliasReplayQuery, nowMs: number): { fromId: Id; beforeId: Id } {
  const sinceMs = since === undefined ? 0 : momentMs(since, 'since');
  const untilMs = until === undefined ? nowMs : momentMs(until, 'until');
  if (since !== undefined && until !== undefined && sinceMs > untilMs)
    throw invalid([{ path: 'since', message: 'must not be after until' }]);
  return { fromId: lowestIdAt(sinceMs), beforeId: lowestIdAt(Math.min(untilMs, nowMs) + 1) };
}

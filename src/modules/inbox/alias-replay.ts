import { Injectable } from '@nestjs/common';
import { ReceivedEvents } from '#modules/events/received.contract.js';
import { Redeliveries, type Redelivered } from '#modules/ledger/redelivery.contract.js';
import { Clock } from '#kernel/clock.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { Database } from '#kernel/database.js';
import { invalid } from '#kernel/errors.js';
import { type Id, Ids, lowestIdAt } from '#kernel/ids.js';
import { momentMs } from '#kernel/moment.js';
import type { Tenant } from '#kernel/tenant.js';
import { AliasesService } from './aliases.service.js';

/** Of the specification. */
const MESSAGES_MAX = 1_000;

/** What a caller asks for. */
export interface AliasReplayQuery {
  since?: string;
  until?: string;
  status?: string;
  dry_run?: boolean;
  cursor?: string;
}

/** What one call came to. */
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

/** Sends what came to an alias again, to where the alias leads now. */
@Injectable()
export class AliasReplay {
  constructor(
    private readonly aliases: AliasesService,
    private readonly received: ReceivedEvents,
    private readonly redeliveries: Redeliveries,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** Throws 404, 400 for a bad cursor, and 422. */
  async run(tenant: Tenant, alias: string, query: AliasReplayQuery): Promise<AliasReplayed> {
    const { id: aliasId, destinationIds } = await this.aliases.find(tenant, alias);
    const { environmentId } = tenant;
    const { cursor, status = null, dry_run: isDryRun = false, since, until } = query;
    const list: CursorQuery = { list: `alias replay ${aliasId}`, filters: { since, until, status: query.status, isDryRun: String(isDryRun) } };
    const window = windowOf(query, this.clock.nowMs());
    const range = { environmentId, endpointId: aliasId, status, ...window, ...(cursor !== undefined && { beforeId: this.cursors.read(tenant, list, cursor) }) };
    const rows = await this.received.page(range, MESSAGES_MAX, false);
    const looked = rows.filter(({ inStatus }) => inStatus);
    const sendable = looked.filter(({ erased, disposition }) => !erased && disposition !== 'quarantined' && disposition !== 'parked');
    // Pages go back in time, each one forwards.
    const picked = sendable.reverse().flatMap(({ id, expiresOn }) =>
      destinationIds.map((targetId): Redelivered => ({ eventId: id, expiresOn, targetId, endpointId: aliasId })));
    const enqueued = isDryRun || picked.length === 0 ? picked.length : await this.database.transaction(() => this.redeliveries.redeliverTo(environmentId, picked));
    const last = rows.length === MESSAGES_MAX ? rows.at(-1) : undefined;
    const isRouted = destinationIds.length > 0;
    return {
      replayId: this.ids.next(), aliasId, isDryRun, scanned: looked.length, replayed: isRouted ? sendable.length : 0, enqueued,
      skipped: isRouted ? 0 : sendable.length, excluded: looked.length - sendable.length, destinations: destinationIds,
      nextCursor: last === undefined ? null : this.cursors.issue(tenant, list, last.id),
    };
  }
}

/** Ends now at the latest: what comes meanwhile is none of it. Throws 422. */
function windowOf({ since, until }: AliasReplayQuery, nowMs: number): { fromId: Id; beforeId: Id } {
  const sinceMs = since === undefined ? 0 : momentMs(since, 'since');
  const untilMs = until === undefined ? nowMs : momentMs(until, 'until');
  if (since !== undefined && until !== undefined && sinceMs > untilMs) throw invalid([{ path: 'since', message: 'must not be after until' }]);
  return { fromId: lowestIdAt(sinceMs), beforeId: lowestIdAt(Math.min(untilMs, nowMs) + 1) };
}

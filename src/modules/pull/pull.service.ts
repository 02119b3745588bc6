import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { withoutConfigured } from '#engine/headers.js';
import { Clock } from '#kernel/clock.js';
import { ClusterEpochs } from '#kernel/database/cluster-epochs.js';
import { badRequest } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { Metrics } from '#kernel/observability/metrics.js';
import type { Tenant } from '#kernel/tenant.js';
import { type Feed, Feeds } from './feeds.js';
import { eventAt, ORIGIN, type Position, type PullPosition, type Standing } from './place.js';
import { type ItemRow, type PullLook, PullStore } from './pull.store.js';
import { Waiters } from './waiters.js';

/** How a consumer reads on. */
export interface ReadOn {
  /** The `next_cursor` of an earlier page: what came before it is committed. */
  cursor?: string;
  limit?: number;
  /** Seconds. */
  wait?: number;
  /** Whether the cursor commits; a key that may not write only reads. */
  commits: boolean;
}

/** A batch, in the order of acceptance. */
export interface Batch {
  items: ItemRow[];
  /** Null only while nothing was ever there. */
  nextCursor: string | null;
  consumedAtMs: number;
}

const LIMIT_DEFAULT = 50;
/** Looks of one request for an endpoint's first item among those of others; the next request goes on from there. */
const LOOKS_MAX = 20;

/** At least once, in order: a batch comes again until a consumer passes it by its cursor. */
@Injectable()
export class PullService {
  private readonly itemsRead: Counter;

  constructor(
    private readonly feeds: Feeds,
    private readonly store: PullStore,
    private readonly waiters: Waiters,
    private readonly epochs: ClusterEpochs,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.itemsRead = metrics.counter('pull_items_read_total', 'Items that consumers read, those read again included.');
  }

  /** Commits up to the cursor, and reads what is behind it or, without one, behind the committed position. */
  async read(
    tenant: Tenant,
    feedId: string,
    { cursor, limit = LIMIT_DEFAULT, wait = 0, commits }: ReadOn,
    gone: AbortSignal,
  ): Promise<Batch> {
    const untilMs = this.clock.nowMs() + wait * 1_000;
    const feed = await this.feeds.find(tenant, feedId);
    const start =
      cursor === undefined ? await this.store.committed(feed) : await this.pass(tenant, feed, cursor, commits);
    let found = await this.seek(feed, start, limit);
    while (
      found.items.length === 0 &&
      found.isEnd &&
      (await this.waiters.wait(feed, found.through, untilMs - this.clock.nowMs(), gone))
    ) {
      found = await this.seek(feed, found.through, limit);
    }
    const { items, through, epoch } = found;
    // Nothing of this feed was passed: whoever comes without a cursor need not look there again.
    if (commits && items.length === 0 && through !== start) await this.store.commit(feed, { position: through, epoch });
    this.itemsRead.inc(items.length);
    const nextCursor = through === ORIGIN ? null : this.feeds.cursorAt(tenant, feed, { position: through, epoch });
    return { items: items.map((row) => shownTo(feed, row)), nextCursor, consumedAtMs: this.clock.nowMs() };
  }

  /** Commits up to the cursor; returns the last event that is committed now, which may be a later one. */
  async acknowledge(tenant: Tenant, feedId: string, cursor: string): Promise<Id> {
    const feed = await this.feeds.find(tenant, feedId);
    return eventAt(await this.commit(feed, this.feeds.placeOf(tenant, feed, cursor)));
  }

  /** Returns the cursor's own position, behind which it goes on, whatever others have committed. */
  private async pass(tenant: Tenant, feed: Feed, cursor: string, commits: boolean): Promise<Position> {
    const place = this.feeds.placeOf(tenant, feed, cursor);
    if (commits) await this.commit(feed, place);
    else await this.require(await this.store.standing(place));
    return place.position;
  }

  private async commit(feed: Feed, pullPosition: PullPosition): Promise<Position> {
    const { standing, through } = await this.store.commit(feed, pullPosition);
    await this.require(standing);
    return through;
  }

  /** A consumer with a cursor of what was lost must not read on: it would never know what it has seen of it. Throws 400. */
  private async require(standing: Standing): Promise<void> {
    if (standing === 'current') return;
    if (standing === 'ahead') await this.epochs.begin();
    throw badRequest(
      'The cursor is of before a failover or a restore of the storage, which may have lost what it has passed. Start again without it.',
    );
  }

  private async seek(feed: Feed, from: Position, limit: number): Promise<PullLook> {
    let look = await this.store.look(feed, from, limit);
    for (let looks = 1; looks < LOOKS_MAX && look.items.length === 0 && !look.isEnd; looks += 1) {
      look = await this.store.look(feed, look.through, limit);
    }
    return look;
  }
}

/** A consumer may trust a header that the destination names: a received request cannot bring it. */
function shownTo({ staticHeaders }: Feed, row: ItemRow): ItemRow {
  return row.direction === 'inbound' && row.headers !== null
    ? { ...row, headers: withoutConfigured(row.headers, staticHeaders) }
    : row;
}

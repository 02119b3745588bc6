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

export interface ReadOn {
  /** The `next_cursor` of an earlier page. Passing it acknowledges all items before it. */
  cursor?: string;
  limit?: number;
  /** Maximum time to wait for items, in seconds. */
  wait?: number;
  /** True if the cursor is also committed. False for an API key without write permission. */
  commits: boolean;
}

export interface Batch {
  items: ItemRow[];
  /** Cursor of the next page. Null only if no item has ever been available. */
  nextCursor: string | null;
  consumedAtMs: number;
}

const LIMIT_DEFAULT = 50;
/** Maximum number of reads in one request to find an endpoint's first item. The next request continues the search. */
const LOOKS_MAX = 20;

/** Serves items in order and at least once: a batch is returned again until the consumer sends its cursor. */
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
    this.itemsRead = metrics.counter('pull_items_read_total', 'Items that consumers read, including repeated reads.');
  }

  /**
   * Returns the items after the cursor. If `commits` is true, first commits all items before it. Without a cursor,
   * starts at the committed position.
   */
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
    // None of the scanned items belongs to this feed. Commits their position, so that the next read without a cursor
    // does not scan them again.
    if (commits && items.length === 0 && through !== start) await this.store.commit(feed, { position: through, epoch });
    this.itemsRead.inc(items.length);
    const nextCursor = through === ORIGIN ? null : this.feeds.cursorAt(tenant, feed, { position: through, epoch });
    return { items: items.map((row) => shownTo(feed, row)), nextCursor, consumedAtMs: this.clock.nowMs() };
  }

  /**
   * Commits all items before the cursor. Returns the last committed event, which may be later than the cursor's event.
   */
  async acknowledge(tenant: Tenant, feedId: string, cursor: string): Promise<Id> {
    const feed = await this.feeds.find(tenant, feedId);
    return eventAt(await this.commit(feed, this.feeds.placeOf(tenant, feed, cursor)));
  }

  /**
   * Commits the cursor's position if `commits` is true. Returns the cursor's position, even if a later one is
   * committed.
   */
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

  /** Throws 400 for a cursor from before a failover or restore, because the consumer may have missed items. */
  private async require(standing: Standing): Promise<void> {
    if (standing === 'current') return;
    if (standing === 'ahead') await this.epochs.begin();
    throw badRequest(
      'The cursor was issued before a failover or a restore of the storage, which may have lost events that the cursor has passed. Start again without it.',
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

/** Removes received headers with the name of a static header, because consumers may trust static headers. */
function shownTo({ staticHeaders }: Feed, row: ItemRow): ItemRow {
  return row.direction === 'inbound' && row.headers !== null
    ? { ...row, headers: withoutConfigured(row.headers, staticHeaders) }
    : row;
}

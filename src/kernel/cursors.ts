import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from './clock.js';
import { Keyring } from './crypto/keyring.js';
import { badRequest } from './errors.js';
import type { Tenant } from './tenant.js';

/** Name of the list, and the filters of the query. */
export interface CursorQuery {
  list: string;
  filters: Record<string, unknown>;
}

export interface PageQuery {
  cursor?: string;
  limit?: number;
}

export interface Page<Row> {
  rows: Row[];
  nextCursor: string | null;
}

/** Number of items above which a list shows "1,000 or more" instead of counting all of them. */
export const COUNTED_MAX = 1_000;

const LIFETIME_MS = 3_600_000;

/**
 * Creates and reads opaque list positions (cursors). A cursor is signed, bound to its tenant and query, and valid for
 * one hour. The signing key is derived from the keyring, so every node accepts the cursors of other nodes, even while
 * MASTER_KEY is replaced.
 */
@Injectable()
export class Cursors {
  private key: Buffer | null = null;

  constructor(
    @Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>,
    private readonly clock: Clock,
  ) {}

  issue(tenant: Tenant, query: CursorQuery, last: string): string {
    const body = Buffer.from(JSON.stringify([last, this.clock.nowMs() + LIFETIME_MS])).toString('base64url');
    return `${body}.${this.sign(tenant, query, body).toString('base64url')}`;
  }

  /** Returns a cursor's position. Throws 400 if it is malformed, altered, expired, or of another tenant or query. */
  read(tenant: Tenant, query: CursorQuery, cursor: string): string {
    const [body, mac, ...rest] = cursor.split('.');
    const given = Buffer.from(mac ?? '', 'base64url');
    if (!body || given.length !== 16 || rest.length > 0) throw badRequest('The cursor is not a cursor of this list.');
    if (!timingSafeEqual(given, this.sign(tenant, query, body))) {
      throw badRequest('The cursor does not belong to this query. Start again without it.');
    }
    const [last, expiresAtMs] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [string, number];
    if (expiresAtMs < this.clock.nowMs()) throw badRequest('The cursor has expired. Start again without it.');
    return last;
  }

  /**
   * Returns the first `limit` of `rows`, and a cursor if there are more. Callers therefore read one row more than
   * `limit`.
   */
  page<Row>(
    tenant: Tenant,
    query: CursorQuery,
    rows: readonly Row[],
    limit: number,
    keyOf: (row: Row) => string,
  ): Page<Row> {
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    return { rows: page, nextCursor: hasMore ? this.issue(tenant, query, keyOf(last)) : null };
  }

  private sign(tenant: Tenant, query: CursorQuery, body: string): Buffer {
    const bound = JSON.stringify([tenant.environmentId, query.list, Object.entries(query.filters).sort()]);
    this.key ??= this.keyring.derived('posthorn cursors v2');
    const mac = createHmac('sha256', this.key).update(createHash('sha256').update(bound).digest());
    return mac.update(body).digest().subarray(0, 16);
  }
}

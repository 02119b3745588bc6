import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from './clock.js';
import { Keyring } from './crypto/keyring.js';
import { badRequest } from './errors.js';
import type { Tenant } from './tenant.js';

/** The query that a cursor belongs to: the list's name and its filters. */
export interface CursorQuery {
  list: string;
  filters: Record<string, unknown>;
}

/** Where a list goes on, and how long its page is, as a caller gives it. */
export interface PageQuery {
  cursor?: string;
  limit?: number;
}

/** Rows of a list that are counted: it says "1,000 or more" rather than counting a million. */
export const COUNTED_MAX = 1_000;

const LIFETIME_MS = 3_600_000;

/**
 * Opaque list positions: signed, bound to the tenant and to the query that they came from, valid for one hour.
 * The key is derived from the keyring and not from MASTER_KEY, so every node accepts what another one gave out, also
 * while a rotation of MASTER_KEY goes through the fleet.
 */
@Injectable()
export class Cursors {
  private key: Buffer | null = null;

  constructor(
    @Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>,
    private readonly clock: Clock,
  ) {}

  /** A cursor that goes on behind `last`. */
  issue(tenant: Tenant, query: CursorQuery, last: string): string {
    const body = Buffer.from(JSON.stringify([last, this.clock.nowMs() + LIFETIME_MS])).toString('base64url');
    return `${body}.${this.sign(tenant, query, body).toString('base64url')}`;
  }

  /** The position of a cursor. Throws 400 for one that is malformed, altered, expired, or of another tenant or query. */
  read(tenant: Tenant, query: CursorQuery, cursor: string): string {
    const [body, mac, ...rest] = cursor.split('.');
    const given = Buffer.from(mac ?? '', 'base64url');
    if (!body || given.length !== 16 || rest.length > 0) throw badRequest('The cursor is not one of this list.');
    if (!timingSafeEqual(given, this.sign(tenant, query, body))) {
      throw badRequest('The cursor does not belong to this query. Start again without it.');
    }
    const [last, expiresAtMs] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [string, number];
    if (expiresAtMs < this.clock.nowMs()) throw badRequest('The cursor has expired. Start again without it.');
    return last;
  }

  private sign(tenant: Tenant, query: CursorQuery, body: string): Buffer {
    const bound = JSON.stringify([tenant.environmentId, query.list, Object.entries(query.filters).sort()]);
    this.key ??= this.keyring.derived('posthorn cursors v2');
    const mac = createHmac('sha256', this.key).update(createHash('sha256').update(bound).digest());
    return mac.update(body).digest().subarray(0, 16);
  }
}

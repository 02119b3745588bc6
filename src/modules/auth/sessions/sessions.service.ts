import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { requireLive } from '../members/members.service.js';
import { IDLE_MS_MAX } from './sessions.js';
import { type SessionRow, SessionsStore } from './sessions.store.js';

const LIMIT_DEFAULT = 50;
const LIST: CursorQuery = { list: 'sessions', filters: {} };

@Injectable()
export class SessionsService {
  constructor(
    private readonly store: SessionsStore,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly cursors: Cursors,
  ) {}

  async list(
    tenant: Tenant,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ rows: SessionRow[]; nextCursor: string | null }> {
    const before = cursor === undefined ? null : this.cursors.read(tenant, LIST, cursor);
    const rows = await this.store.page(tenant.organizationId, before, limit + 1, IDLE_MS_MAX / 1000);
    return this.cursors.page(tenant, LIST, rows, limit, ({ id }) => id);
  }

  /** Ends a session within five seconds on every node, and returns it. Throws 403 for a test key, 404 if not found. */
  async revoke(tenant: Tenant, id: Id): Promise<SessionRow> {
    requireLive(tenant);
    return this.database.transaction(async () => {
      const ended = await this.store.revoke(tenant.organizationId, id);
      if (ended === null) throw noSuch('session');
      await this.notifications.announce('session', ended.hash.toString('hex'));
      return ended;
    });
  }
}

import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { invalid, noSuch } from '#kernel/errors.js';
import { type Id, Ids, parseId, showId } from '#kernel/ids.js';
import { type Caller, PORTAL_PERMISSIONS, type PortalPermission, type Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { type PortalKind, type PortalSessionRow, PortalSessionsStore } from './portal-sessions.store.js';
import { returnFaults, type ThemeAsked, themeOf } from './portal-theme.js';

const LIFETIME_SECONDS_DEFAULT = 3_600;
const PREVIEW_SECONDS = 900;
const LIMIT_DEFAULT = 50;

export interface PortalAsked {
  lifetimeSeconds?: number;
  permissions?: readonly PortalPermission[];
  theme?: ThemeAsked;
  locale?: string;
  returnUrl?: string | null;
}

export interface OpenedPortal {
  id: Id;
  token: string;
  url: string;
  expiresAt: Date;
}

@Injectable()
export class PortalLinks {
  constructor(
    private readonly store: PortalSessionsStore,
    private readonly applications: Applications,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly cursors: Cursors,
    private readonly ids: Ids,
    private readonly config: Config,
  ) {}

  /** Opens a portal session. Throws 404 if the application does not exist, and 422 for invalid settings. */
  async open(caller: Caller, application: string, asked: PortalAsked): Promise<OpenedPortal> {
    const faults = returnFaults(asked.returnUrl ?? null, caller.tenant.mode);
    if (faults.length > 0) throw invalid(faults);
    return this.begin(caller, application, 'customer', asked);
  }

  /** Opens a read-only preview for a member. No page may frame it. Throws 404 if the application does not exist. */
  preview(caller: Caller, application: string, asked: Pick<PortalAsked, 'theme' | 'locale'>): Promise<OpenedPortal> {
    return this.begin(caller, application, 'preview', {
      ...asked,
      permissions: ['view'],
      lifetimeSeconds: PREVIEW_SECONDS,
    });
  }

  /** Lists active portal sessions. Throws 404 if the application does not exist. */
  async list(
    tenant: Tenant,
    application: string,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ rows: PortalSessionRow[]; nextCursor: string | null }> {
    const applicationId = await this.applications.find(tenant.environmentId, application);
    const list: CursorQuery = { list: `portals of ${applicationId}`, filters: {} };
    const before = cursor === undefined ? null : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, applicationId, before, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
  }

  async find({ environmentId }: Tenant, application: string, session: string): Promise<PortalSessionRow> {
    const id = parseId('pls', session);
    const applicationId = await this.applications.find(environmentId, application);
    const row = id === null ? null : await this.store.find(environmentId, applicationId, id);
    if (row === null) throw noSuch('portal session');
    return row;
  }

  /**
   * Ends a session, or all sessions of the application if `session` is null. Takes effect on all nodes within five
   * seconds. Returns the ids of the ended sessions. Throws 404 if the application or the session does not exist.
   */
  async revoke({ environmentId }: Tenant, application: string, session: string | null): Promise<Id[]> {
    const id = session === null ? null : parseId('pls', session);
    if (session !== null && id === null) throw noSuch('portal session');
    const applicationId = await this.applications.find(environmentId, application);
    return this.database.transaction(async () => {
      const ended = await this.store.revoke(environmentId, applicationId, id);
      if (id !== null && ended.length === 0) throw noSuch('portal session');
      const [only] = ended;
      if (only !== undefined)
        await this.notifications.announce('portal', ended.length === 1 ? only.hash.toString('hex') : '*');
      return ended.map((each) => each.id);
    });
  }

  private async begin(
    caller: Caller,
    application: string,
    kind: PortalKind,
    asked: PortalAsked,
  ): Promise<OpenedPortal> {
    const { environmentId } = caller.tenant;
    const applicationId = await this.applications.find(environmentId, application);
    const token = `pt_${randomBytes(32).toString('base64url')}`;
    const hashHex = hash('sha256', token);
    const id = this.ids.next();
    const expiresAt = await this.database.transaction(async () => {
      const inserted = await this.store.insert({
        environmentId,
        applicationId,
        id,
        hash: Buffer.from(hashHex, 'hex'),
        kind,
        ...openerOf(caller),
        permissions: permissionsOf(asked.permissions ?? PORTAL_PERMISSIONS),
        theme: themeOf(asked.theme ?? {}),
        locale: asked.locale ?? 'en',
        returnUrl: asked.returnUrl ?? null,
        lifetimeSeconds: asked.lifetimeSeconds ?? LIFETIME_SECONDS_DEFAULT,
      });
      // Evicts the negative cache entry that a lookup of this token may have created before its session existed.
      await this.notifications.announce('portal', hashHex);
      return inserted;
    });
    return { id, token, url: `${this.config.baseUrl}/portal/${showId('pls', id)}#${token}`, expiresAt };
  }
}

/** Returns the permissions in canonical order without duplicates. Every permission includes `view`. */
function permissionsOf(asked: readonly PortalPermission[]): PortalPermission[] {
  return PORTAL_PERMISSIONS.filter((permission) => permission === 'view' || asked.includes(permission));
}

function openerOf({ keyId, session }: Caller): { openedBy: string; keyId: Id | null; memberId: Id | null } {
  const memberId = session?.memberId ?? null;
  if (memberId !== null) return { openedBy: showId('mbr', memberId), keyId: null, memberId };
  // A caller with a token that an extension accepted has no API key.
  if (keyId.startsWith('token:')) return { openedBy: keyId, keyId: null, memberId: null };
  return { openedBy: showId('ek', keyId), keyId, memberId: null };
}

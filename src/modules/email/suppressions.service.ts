import { Injectable } from '@nestjs/common';
import { isRefused, parseMailbox, type Refused, suppressionKey } from '#engine/mail/addresses.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { Database } from '#kernel/database/database.js';
import { conflict, invalid, noSuch } from '#kernel/errors.js';
import { type Id, Ids, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  type NewAddress,
  type NewReason,
  type SuppressionOrigin,
  type SuppressionRow,
  SuppressionsStore,
} from './suppressions.store.js';

export interface SuppressionQuery extends PageQuery {
  origin?: SuppressionOrigin;
  email?: string;
}

const LIMIT_DEFAULT = 50;

@Injectable()
export class SuppressionsService {
  constructor(
    private readonly store: SuppressionsStore,
    private readonly cursors: Cursors,
    private readonly database: Database,
    private readonly ids: Ids,
  ) {}

  /** Lists suppressions. Throws 400 for an invalid cursor. */
  async list(tenant: Tenant, query: SuppressionQuery): Promise<{ rows: SuppressionRow[]; nextCursor: string | null }> {
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const { origin = null, email } = filters;
    if (email !== undefined) {
      const found = await this.store.find(tenant.environmentId, { key: suppressionKey(email) });
      return { rows: found !== null && (origin === null || found.origin === origin) ? [found] : [], nextCursor: null };
    }
    const list: CursorQuery = { list: 'suppressions', filters };
    const beforeId = cursor === undefined ? null : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, { beforeId, origin }, limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { rows: page, nextCursor: last ? this.cursors.issue(tenant, list, last.id) : null };
  }

  /** Suppresses an address and returns the suppression. Throws 422 for an invalid address, 409 if already listed. */
  async add({ environmentId }: Tenant, text: string): Promise<SuppressionRow> {
    const address = this.newAddress(text);
    if (isRefused(address)) throw invalid([{ path: 'email', message: address.refusal }]);
    const row = await this.database.transaction(() => this.store.add(byHand(environmentId), address));
    if (row === null) throw conflict('The address is on the list already.');
    return row;
  }

  /**
   * Suppresses all addresses or none. Returns one suppression per address, in order: the existing one if the address is
   * already listed. Throws 422 that names every invalid address.
   */
  async addAll({ environmentId }: Tenant, texts: readonly string[]): Promise<SuppressionRow[]> {
    const parsed = texts.map((text) => this.newAddress(text));
    const faults = parsed.flatMap((each, i) =>
      isRefused(each) ? [{ path: `emails.${i}`, message: each.refusal }] : [],
    );
    if (faults.length > 0) throw invalid(faults);
    const addresses = parsed as NewAddress[];
    const byKey = new Map(addresses.map((each) => [each.key, each]));
    const found = await this.database.transaction(async () => {
      await this.store.addAll(byHand(environmentId), [...byKey.values()]);
      return this.store.findAll(environmentId, [...byKey.keys()]);
    });
    return addresses.map(({ key }) => {
      const row = found.get(key);
      if (row === undefined) throw conflict('An address was removed at the same time. Send the request again.');
      return row;
    });
  }

  private newAddress(text: string): NewAddress | Refused {
    const mailbox = parseMailbox(text, 'international');
    if (isRefused(mailbox)) return mailbox;
    const { address: email } = mailbox;
    return { id: this.ids.next(), key: suppressionKey(email), email };
  }

  /** Returns a suppression by id or address. Throws 404 if it does not exist. */
  async find({ environmentId }: Tenant, text: string): Promise<SuppressionRow> {
    const id: Id | null = parseId('sup', text);
    const row = await this.store.find(environmentId, id === null ? { key: suppressionKey(text) } : { id });
    if (row === null) throw noSuch('suppression');
    return row;
  }

  /** Removes a suppression, so that the address receives emails again. Throws 404 if it does not exist. */
  async remove(tenant: Tenant, text: string): Promise<void> {
    const { id } = await this.find(tenant, text);
    if (!(await this.store.remove(tenant.environmentId, id))) throw noSuch('suppression');
  }
}

function byHand(environmentId: number): NewReason {
  return { environmentId, origin: 'manual', sourceId: null, forDays: null };
}

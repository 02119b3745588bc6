import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';

/** A client that registered itself. */
export interface ClientRow {
  id: string;
  name: string;
  uri: string | null;
  redirectUris: string[];
  createdAt: Date;
}

/** Within the cap of clients that nobody approved; counted by oauth_clients_unapproved_idx. */
const ADD: Statement = {
  name: 'oauth_clients.add',
  text: `
    insert into oauth_clients (id, name, uri, redirect_uris, network, created_at)
    select $1, $2, $3, $4::text[], $5, now()
    where (select count(*) from (select 1 from oauth_clients where approved_at is null limit $6) unapproved) < $6
    returning created_at as "createdAt"`,
};

/** Index oauth_clients_pkey. */
const FIND: Statement = {
  name: 'oauth_clients.find',
  text: 'select id, name, uri, redirect_uris as "redirectUris", created_at as "createdAt" from oauth_clients where id = $1',
};

/** Index oauth_clients_pkey. */
const APPROVE: Statement = { name: 'oauth_clients.approve', text: 'update oauth_clients set approved_at = now() where id = $1 and approved_at is null' };

/** Index oauth_clients_unapproved_idx. */
const PURGE: Statement = { name: 'oauth_clients.purge', text: `delete from oauth_clients where approved_at is null and created_at < now() - interval '24 hours'` };

/** Registered clients, which belong to the whole installation. */
@Injectable()
export class OAuthClientsStore {
  constructor(private readonly database: Database) {}

  /** When it was added; null when there are too many that nobody approved yet. */
  async add(client: Omit<ClientRow, 'createdAt'>, network: string, unapprovedMax: number): Promise<Date | null> {
    const [added] = await this.database.query<{ createdAt: Date }>(ADD, [client.id, client.name, client.uri, client.redirectUris, network, unapprovedMax]);
    return added?.createdAt ?? null;
  }

  async find(id: string): Promise<ClientRow | null> {
    const [found] = await this.database.query<ClientRow>(FIND, [id]);
    return found ?? null;
  }

  /** Keeps it for good. */
  async approve(id: string): Promise<void> {
    await this.database.query(APPROVE, [id]);
  }

  /** Deletes those that nobody approved within a day. */
  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}

import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { ClientGrant } from './client-metadata.js';

/** A client that registered itself. */
export interface ClientRow {
  id: string;
  name: string;
  uri: string | null;
  redirectUris: string[];
  grantTypes: ClientGrant[];
  createdAt: Date;
}

/** A client that was added, and how many wait for an approval with it. */
export interface Added {
  createdAt: Date;
  ofNetwork: number;
  inAll: number;
}

/** Indexes oauth_clients_network_idx and oauth_clients_unapproved_idx; each count ends where its limit does. The new row is not in them yet. */
const ADD: Statement = {
  name: 'oauth_clients.add',
  text: `
    insert into oauth_clients (id, name, uri, redirect_uris, network, created_at, grant_types)
    values ($1, $2, $3, $4::text[], $5, now(), $8::text[])
    returning created_at as "createdAt",
      1 + (select count(*)::int from (select 1 from oauth_clients where approved_at is null and network = $5 limit $6) of_network) as "ofNetwork",
      1 + (select count(*)::int from (select 1 from oauth_clients where approved_at is null limit $7) unapproved) as "inAll"`,
};

/** Those that nobody was asked about within a day go first, and of them the oldest. Index oauth_clients_network_idx. */
const THIN_NETWORK: Statement = {
  name: 'oauth_clients.thin_network',
  text: `
    delete from oauth_clients where approved_at is null and id in (
      select id from oauth_clients where approved_at is null and network = $1
      order by (shown_at > now() - interval '24 hours') desc nulls last, created_at desc, id offset $2
      for update skip locked)`,
};

/** An IPv4 address, or the /48 of an IPv6 address, which one site is given: it would have 65,536 networks. */
const SITE = `regexp_replace(network, '^([^:]*:[^:]*:[^:]*):.*$', '\\1')`;

/**
 * Those of the site that has most go first, then the oldest; those that somebody was asked about within a day stay as long as there are others. A
 * sort of all that are there, 10,000, and only where there are more.
 */
const THIN: Statement = {
  name: 'oauth_clients.thin',
  text: `
    with ranked as (
      select id, created_at, shown_at > now() - interval '24 hours' as is_shown, row_number() over (partition by ${SITE} order by created_at desc, id) as place
      from oauth_clients where approved_at is null
    ), surplus as (
      select id from ranked order by is_shown desc nulls last, place, created_at desc, id offset $1
    )
    delete from oauth_clients where approved_at is null and id in (select c.id from oauth_clients c join surplus s on s.id = c.id for update of c skip locked)`,
};

/** Index oauth_clients_pkey. Opened again and again it is written once an hour. */
const SHOW: Statement = {
  name: 'oauth_clients.show',
  text: `update oauth_clients set shown_at = now() where id = $1 and approved_at is null and (shown_at is null or shown_at < now() - interval '1 hour')`,
};

/** Index oauth_clients_pkey. */
const FIND: Statement = {
  name: 'oauth_clients.find',
  text: 'select id, name, uri, redirect_uris as "redirectUris", grant_types as "grantTypes", created_at as "createdAt" from oauth_clients where id = $1',
};

/** Index oauth_clients_pkey. */
const APPROVE: Statement = {
  name: 'oauth_clients.approve',
  text: 'update oauth_clients set approved_at = now() where id = $1 and approved_at is null',
};

/** Index oauth_clients_unapproved_idx. */
const PURGE: Statement = {
  name: 'oauth_clients.purge',
  text: `
    delete from oauth_clients
    where approved_at is null and created_at < now() - interval '24 hours' and (shown_at is null or shown_at < now() - interval '24 hours')`,
};

/** Registered clients, which belong to the whole installation. */
@Injectable()
export class OAuthClientsStore {
  constructor(private readonly database: Database) {}

  /** When it was added, and how many there are that nobody approved: counted no further than one above each limit. */
  async add(
    client: Omit<ClientRow, 'createdAt'>,
    network: string,
    ofNetworkMax: number,
    inAllMax: number,
  ): Promise<Added> {
    const [added] = await this.database.query<Added>(ADD, [
      client.id,
      client.name,
      client.uri,
      client.redirectUris,
      network,
      ofNetworkMax,
      inAllMax,
      client.grantTypes,
    ]);
    return added as Added;
  }

  /** Leaves so many of a network that nobody approved. */
  async thinNetwork(network: string, kept: number): Promise<void> {
    await this.database.query(THIN_NETWORK, [network, kept]);
  }

  /** Leaves so many that nobody approved. */
  async thin(kept: number): Promise<void> {
    await this.database.query(THIN, [kept]);
  }

  /** A person looks at it. */
  async show(id: string): Promise<void> {
    await this.database.query(SHOW, [id]);
  }

  async find(id: string): Promise<ClientRow | null> {
    const [found] = await this.database.query<ClientRow>(FIND, [id]);
    return found ?? null;
  }

  /** Keeps it for good. */
  async approve(id: string): Promise<void> {
    await this.database.query(APPROVE, [id]);
  }

  /** Deletes those that nobody approved within a day of their registration, or of the last time that somebody was asked. */
  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}

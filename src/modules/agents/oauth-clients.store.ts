import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { OAuthClientEntity } from './agents.entities.js';
import type { ClientGrant } from './client-metadata.js';

export interface ClientRow extends Pick<OAuthClientEntity, 'id' | 'name' | 'uri' | 'redirectUris' | 'createdAt'> {
  grantTypes: ClientGrant[];
}

/** Result of adding a client, with the current numbers of unapproved clients. */
export interface Added {
  createdAt: Date;
  ofNetwork: number;
  inAll: number;
}

/**
 * Inserts a client. Returns the number of unapproved clients including the new one (`oauth_clients_unapproved_idx`).
 */
const ADD: Statement = {
  name: 'oauth_clients.add',
  text: `
    insert into oauth_clients (id, name, uri, redirect_uris, network, created_at, grant_types)
    values ($1, $2, $3, $4::text[], $5, now(), $8::text[])
    returning created_at as "createdAt",
      1 + (select count(*)::int from (select 1 from oauth_clients where approved_at is null and network = $5
        limit $6) of_network) as "ofNetwork",
      1 + (select count(*)::int from (select 1 from oauth_clients where approved_at is null
        limit $7) unapproved) as "inAll"`,
};

/**
 * Deletes the oldest unapproved clients of a network that exceeds its limit. Clients that were shown to a user in the
 * last 24 hours are deleted only after all others. Uses `oauth_clients_network_idx`.
 */
const THIN_NETWORK: Statement = {
  name: 'oauth_clients.thin_network',
  text: `
    delete from oauth_clients where approved_at is null and id in (
      select id from oauth_clients where approved_at is null and network = $1
      order by (shown_at > now() - interval '24 hours') desc nulls last, created_at desc, id offset $2
      for update skip locked)`,
};

/** SQL expression for a network's site: an IPv4 address or an IPv6 /48, because one site usually gets a whole /48. */
const SITE = `regexp_replace(network, '^([^:]*:[^:]*:[^:]*):.*$', '\\1')`;

/**
 * Deletes unapproved clients if the installation exceeds its limit. Starts with the oldest clients of the site (an IPv4
 * address or an IPv6 /48) that has the most. Clients that were shown to a user in the last 24 hours are deleted only
 * after all others. Sorts all unapproved clients, about 10,000.
 */
const THIN: Statement = {
  name: 'oauth_clients.thin',
  text: `
    with ranked as (
      select id, created_at, shown_at > now() - interval '24 hours' as is_shown,
        row_number() over (partition by ${SITE} order by created_at desc, id) as place
      from oauth_clients where approved_at is null
    ), surplus as (
      select id from ranked order by is_shown desc nulls last, place, created_at desc, id offset $1
    )
    delete from oauth_clients where approved_at is null and id in (select c.id from oauth_clients c join surplus s
      on s.id = c.id for update of c skip locked)`,
};

/** Uses the index `oauth_clients_pkey`. Repeated calls write at most once an hour. */
const SHOW: Statement = {
  name: 'oauth_clients.show',
  text: `update oauth_clients set shown_at = now() where id = $1 and approved_at is null and (shown_at is null or shown_at < now() - interval '1 hour')`,
};

/** Uses the index `oauth_clients_pkey`. */
const FIND: Statement = {
  name: 'oauth_clients.find',
  text: 'select id, name, uri, redirect_uris as "redirectUris", grant_types as "grantTypes", created_at as "createdAt" from oauth_clients where id = $1',
};

/** Uses the index `oauth_clients_pkey`. */
const APPROVE: Statement = {
  name: 'oauth_clients.approve',
  text: 'update oauth_clients set approved_at = now() where id = $1 and approved_at is null',
};

/** Uses the index `oauth_clients_unapproved_idx`. */
const PURGE: Statement = {
  name: 'oauth_clients.purge',
  text: `
    delete from oauth_clients
    where approved_at is null and created_at < now() - interval '24 hours' and (shown_at is null
      or shown_at < now() - interval '24 hours')`,
};

/** Registered clients, which belong to the whole installation. */
@Injectable()
export class OAuthClientsStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds a client. Returns its creation time, and the numbers of unapproved clients in its network and in total. Stops
   * counting one above each limit.
   */
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

  async thinNetwork(network: string, kept: number): Promise<void> {
    await this.database.query(THIN_NETWORK, [network, kept]);
  }

  async thin(kept: number): Promise<void> {
    await this.database.query(THIN, [kept]);
  }

  async show(id: string): Promise<void> {
    await this.database.query(SHOW, [id]);
  }

  async find(id: string): Promise<ClientRow | null> {
    const [found] = await this.database.query<ClientRow>(FIND, [id]);
    return found ?? null;
  }

  /** Marks the client as approved, so that it is kept permanently. */
  async approve(id: string): Promise<void> {
    await this.database.query(APPROVE, [id]);
  }

  /** Deletes unapproved clients that were registered, and last shown to a user, more than a day ago. */
  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}

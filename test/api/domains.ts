import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer } from '../support/zone-server.js';
import { until } from './polling.js';
import { expectStatus, openSql, type Sql, uuidOf } from './scene.js';

export const PLATFORM = 'posthorn.example';

/** A DNS record as the API returns it. */
export interface ShownRecord {
  record: string;
  type: 'TXT' | 'CNAME' | 'MX';
  name: string;
  value: string;
  priority: number | null;
  required: boolean;
  status: string;
  error: string | null;
}

/** A Posthorn server, its test name server, and functions that act on both as a customer does. */
export interface DomainsScene {
  server: PosthornServer;
  zone: ZoneServer;
  sql: Sql;
  /** Returns a host name that no other test uses. */
  host(): string;
  /** Creates a domain and returns it. */
  create(kind: string, host?: string): Promise<ApiAnswer['json']>;
  /** Adds records from the API's responses to the DNS zone of the test. */
  publish(records: readonly ShownRecord[]): void;
  /** Removes the records from the zone. */
  withdraw(records: readonly ShownRecord[]): void;
  /** Checks the domain's DNS records, no matter when the last check ran, and returns the domain. */
  verify(id: string, at?: PosthornServer): Promise<ApiAnswer['json']>;
  verified(kind: string, host?: string): Promise<ApiAnswer['json']>;
  /** Moves stored times back, as if the given number of hours had passed since the last check. */
  letPass(id: string, hours: number): Promise<void>;
  close(): Promise<void>;
}

export async function startDomainsScene(env: Readonly<Record<string, string>> = {}): Promise<DomainsScene> {
  const zone = await startZoneServer();
  const server = await startServer({ PLATFORM_DOMAIN: PLATFORM, DNS_SERVERS: zone.address, ...env });
  const sql = openSql(server);
  let made = 0;

  const host = (): string => `d${(made += 1)}.customer.example`;
  const create = async (kind: string, domain = host()): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('POST', '/v1/domains', { domain, kind }), 201).json;
  const publish = (records: readonly ShownRecord[]): void => {
    for (const { name, type, value, priority } of records)
      zone.set(name, type, [priority === null ? value : `${priority} ${value}`]);
  };
  const verify = async (id: string, at = server): Promise<ApiAnswer['json']> => {
    // A background check that is running would make the call return the result of the check before.
    const freed = (): Promise<unknown[]> =>
      sql.rows(
        `update domains set checked_at = null, next_check_at = now() + interval '1 hour'
         where id = $1 and (claimed_until is null or claimed_until < now()) returning 1`,
        [uuidOf(id)],
      );
    await until(freed, (rows) => rows.length > 0);
    return expectStatus(await at.api('POST', `/v1/domains/${id}/verify`), 200).json;
  };
  return {
    server,
    zone,
    sql,
    host,
    create,
    publish,
    verify,
    withdraw: (records) => {
      for (const { name, type } of records) zone.set(name, type, []);
    },
    verified: async (kind, domain) => {
      const { id, records } = await create(kind, domain);
      publish(records);
      const verified = await verify(id);
      expect(verified).toMatchObject({ state: 'verified' });
      return verified;
    },
    letPass: async (id, hours) => {
      await sql.rows(`update domains set missing_seen_at = missing_seen_at - $2 * interval '1 hour' where id = $1`, [
        uuidOf(id),
        hours,
      ]);
    },
    close: async () => {
      await sql.close();
      await server.stop();
      await zone.close();
    },
  };
}

export function recordsOf(domain: { records: ShownRecord[] }, ...roles: string[]): ShownRecord[] {
  return domain.records.filter(({ record }) => roles.includes(record));
}

/** Returns the status of the records by role, or the set of statuses if a role has several records. */
export function statusesOf(domain: { records: ShownRecord[] }): Record<string, string> {
  const roles = [...new Set(domain.records.map(({ record }) => record))];
  return Object.fromEntries(
    roles.map((role) => [role, [...new Set(recordsOf(domain, role).map(({ status }) => status))].join(' ')]),
  );
}

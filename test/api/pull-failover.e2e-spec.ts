import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { type Account, accountFor } from '../../src/bootstrap/embedded/account.js';
import { type Binaries, locateBinaries } from '../../src/bootstrap/embedded/binaries.js';
import { type Cluster, clusterLink, makeDataDir, openCluster } from '../../src/bootstrap/embedded/cluster.js';
import { launch } from '../../src/bootstrap/embedded/launch.js';
import { anyPort } from '../../src/bootstrap/embedded/ports.js';
import { serverSettings } from '../../src/bootstrap/embedded/settings.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { type DatabaseLink, openLink } from './database-link.js';
import { until } from './polling.js';
import { ack, messagesOf, offer, page, pull, pullDestination } from './pulling.js';
import { expectStatus, send } from './scene.js';

const LONG_WAIT_MS = 60_000;

/** The primary or the standby. */
interface Node {
  port: number;
  pid: number;
  /** Resolves once the server accepts writes. */
  ready: Promise<unknown>;
}

describe('pull after a failover to an asynchronous standby', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-failover-'));
  const dataDir = path.join(folder, 'data');
  let account: Account;
  let binaries: Binaries;
  let cluster: Cluster;
  let link: DatabaseLink;
  let server: PosthornServer;
  const nodes: Node[] = [];

  beforeAll(async () => {
    // Root starts PostgreSQL under another user, which needs access to the directory.
    chmodSync(folder, 0o711);
    makeDataDir(dataDir);
    account = accountFor(clusterLink(dataDir));
    binaries = await locateBinaries(account);
    cluster = openCluster(dataDir, account, binaries);
  }, LONG_WAIT_MS);

  afterAll(async () => {
    await server?.stop();
    await link?.close();
    for (const { pid } of nodes) end(pid);
    rmSync(folder, { recursive: true, force: true });
  }, LONG_WAIT_MS);

  function end(pid: number): void {
    try {
      process.kill(pid, 'SIGQUIT');
    } catch {
      // Ignores the error, because the process has already exited.
    }
  }

  function start(of: Cluster, settings: Record<string, string> = {}): Node {
    const node: Node = { port: anyPort(), pid: 0, ready: Promise.resolve() };
    node.ready = launch(
      {
        cluster: of,
        binaries,
        account,
        settings: serverSettings({ fsync: 'off', shared_buffers: '32MB', ...settings }),
      },
      node.port,
      (pid) => (node.pid = pid),
    );
    node.ready.catch(() => undefined);
    nodes.push(node);
    return node;
  }

  const urlOf = ({ port }: Node): string => `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`;

  async function ask<R>(node: Node, text: string): Promise<R[]> {
    const client = new pg.Client({ connectionString: urlOf(node) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text)).rows as R[];
    } finally {
      await client.end();
    }
  }

  /** Creates a standby of a running primary with pg_basebackup. Returns the standby once it accepts queries. */
  async function standbyOf(primary: Node): Promise<Node> {
    const dir = path.join(path.dirname(cluster.dir), 'standby');
    const client = new pg.Client({ connectionString: urlOf(primary) });
    await client.connect();
    await client.query(`select pg_backup_start('standby', true)`);
    execFileSync('cp', ['-a', cluster.dir, dir]);
    const {
      rows: [stopped],
    } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await client.end();
    rmSync(path.join(dir, 'postmaster.pid'), { force: true });
    for (const [name, text] of [
      ['backup_label', stopped?.labelfile ?? ''],
      ['standby.signal', ''],
    ] as const) {
      writeFileSync(path.join(dir, name), text);
      if (account !== null) chownSync(path.join(dir, name), account.uid, account.gid);
    }
    const connection = `host=127.0.0.1 port=${primary.port} user=postgres password=${cluster.password}`;
    writeFileSync(path.join(dir, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
    const standby = start({ ...cluster, dir, logFile: `${cluster.logFile}.standby` });
    await until(
      () => ask(primary, 'select from pg_stat_replication').catch(() => []),
      (rows) => rows.length === 1,
      LONG_WAIT_MS,
    );
    await until(
      () => ask(standby, 'select pg_is_in_recovery()').catch(() => []),
      (rows) => rows.length === 1,
      LONG_WAIT_MS,
    );
    return standby;
  }

  it('400 for a cursor of lost items, and every item accepted afterwards is delivered', async () => {
    const primary = start(cluster);
    await primary.ready;
    link = await openLink(urlOf(primary));
    server = await startServer({ DATABASE_URL: link.url });
    const feed = await pullDestination(server);
    const kept = await offer(server, feed, 3);
    const { next_cursor: early } = await page(server, feed);
    const standby = await standbyOf(primary);
    // Disconnects the standby. From here on, only the primary stores which items are acknowledged.
    await ask(standby, `alter system set primary_conninfo = ''`);
    await ask(standby, 'select pg_reload_conf()');
    await until(
      () => ask(standby, 'select from pg_stat_wal_receiver'),
      (rows) => rows.length === 0,
      LONG_WAIT_MS,
    );
    // Advances the transaction ids, so that transactions after the failover have lower ids.
    await ask(primary, 'do $$ begin for i in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end $$');
    await offer(server, feed, 40);
    const { next_cursor: cursor } = await page(server, feed, { limit: 100 });
    expectStatus(await ack(server, feed, cursor), 200);
    const [lost] = await ask<{ xid: string }>(primary, 'select max(xid) as xid from pull_items');

    end(primary.pid);
    await ask(standby, 'select pg_promote()');
    await standby.ready;
    link.leadTo(standby.port);
    const first = await until(
      async () => {
        const answer = await server
          .api('POST', '/v1/send', { destination: feed, event_type: 'a', payload: { after: 0 } })
          .catch(() => null);
        return answer?.status === 202 ? (answer.json.message_id as string) : null;
      },
      (id) => id !== null,
      LONG_WAIT_MS,
    );
    const after = [first];
    for (let i = 1; i < 5; i += 1) after.push(await send(server, feed, { payload: { after: i } }));

    const [stored] = await ask<{ behind: number }>(
      standby,
      `select count(*)::int as behind from pull_items where xid < ${lost?.xid ?? 0}`,
    );
    expect(stored).toEqual({ behind: kept.length + after.length });
    // The cursor is ahead of all new items. If a consumer could continue from the cursor, it would silently skip them.
    const readOn = await pull(server, feed, { cursor, limit: 100 });
    const seen = readOn.status === 200 ? messagesOf(readOn.json) : after;
    expect({ status: readOn.status, skipped: after.filter((id) => !seen.includes(id as string)) }).toEqual({
      status: 400,
      skipped: [],
    });
    for (const answer of [readOn, await ack(server, feed, cursor), await pull(server, feed, { cursor: early })])
      expectRefusal(answer, 400);
    const read = await until(
      () => page(server, feed, { limit: 100 }),
      ({ data }) => data.length >= kept.length + after.length,
      LONG_WAIT_MS,
    );
    expect(messagesOf(read)).toEqual([...kept, ...after]);
    expect((await page(server, feed, { cursor: read.next_cursor })).data).toEqual([]);
    const epochs = await until(
      () =>
        ask<{ epoch: number; timeline: number }>(
          standby,
          'select epoch, timeline_id as timeline from cluster_epochs order by epoch',
        ),
      (rows) => rows.length === 2,
      LONG_WAIT_MS,
    );
    expect(epochs).toEqual([
      { epoch: 1, timeline: 1 },
      { epoch: 2, timeline: 2 },
    ]);
  });
});

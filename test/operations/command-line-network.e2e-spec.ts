import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DatabaseLink, openLink } from '../api/database-link.js';
import { until } from '../api/polling.js';
import { destinationAt, eventIn, send, startTargets, type Targets, WITHIN_MS } from '../api/scene.js';
import { type Running, start } from '../support/command.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** Time limit that is longer than the command's timeout for a silent connection. */
const WAIT_MS_MAX = 75_000;

/** `events tail` and `listen` over networks that drop all packets, and on laptops that sleep. */
describe('posthorn events tail and listen', () => {
  let server: PosthornServer;
  let targets: Targets;
  let link: DatabaseLink;
  let local: Server;
  let arrived: string[];
  let folder: string;
  const running: Running[] = [];

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });
    link = await openLink(server.url);
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-network-'));
    arrived = [];
    local = createServer((request, response) => {
      arrived.push(request.url ?? '');
      request.resume().on('end', () => response.end());
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => local.once('listening', resolve));
  });

  afterAll(async () => {
    for (const each of running) {
      each.child.kill('SIGCONT');
      await each.stop('SIGKILL');
    }
    await link?.close();
    local?.close();
    await server?.stop();
    await targets?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function begun(url: string, user: string, args: string[], said: string): Promise<Running> {
    const own = path.join(folder, user);
    const each = start(
      { HOME: own, XDG_CONFIG_HOME: own, POSTHORN_URL: url.replace(/\/$/, ''), POSTHORN_API_KEY: server.apiKey },
      args,
    );
    running.push(each);
    await each.said(said);
    return each;
  }
  const tail = (url: string, user: string, args: string[]): Promise<Running> =>
    begun(url, user, ['events', 'tail', '--json', ...args], 'Listening.');
  const listen = (url: string, user: string, slug: string): Promise<Running> =>
    begun(
      url,
      user,
      [
        'listen',
        '--json',
        '--endpoint',
        slug,
        '--forward-to',
        `http://127.0.0.1:${(local.address() as AddressInfo).port}/${user}`,
      ],
      'Forwarding requests',
    );

  it("after a silent network failure or a laptop's sleep, every event is shown and forwarded once, and the lost connection is reported", async () => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const endpoint = (await server.api('POST', '/v1/endpoints', { slug: 'asleep' })).json as { url: string };
    const receive = async (): Promise<string> =>
      ((await (await fetch(endpoint.url, { method: 'POST', body: '{}' })).json()) as { id: string }).id;
    const [cutTail, cutListen, asleepTail, asleepListen] = await Promise.all([
      tail(link.url, 'cut', ['--destination', destination]),
      listen(link.url, 'cut', 'asleep'),
      tail(server.url, 'asleep', ['--destination', destination]),
      listen(server.url, 'asleep', 'asleep'),
    ]);
    const messages = [await send(server, destination)];
    const received = [await receive()];
    const settled = (each: Running): number => each.lines().filter(({ kind }) => kind === 'status').length;
    const both = async (counts: number): Promise<void> => {
      for (const each of [cutTail, asleepTail])
        await until(
          async () => settled(each),
          (count) => count >= counts,
          WITHIN_MS,
        );
      // A request over an idle connection from before the failure times out after 30 s and is retried.
      for (const each of [cutListen, asleepListen])
        await until(
          async () => each.lines().length,
          (count) => count >= counts,
          WAIT_MS_MAX,
        );
    };
    await both(1);

    link.silence();
    for (const each of [asleepTail, asleepListen]) each.child.kill('SIGSTOP');
    for (let i = 0; i < 3; i += 1) {
      messages.push(await send(server, destination));
      received.push(await receive());
    }
    for (const message of messages) await eventIn(server, message, 'delivered');
    // New connections work from now on, and older connections stay dead.
    link.admit();
    await Promise.all([cutTail, cutListen].map((each) => each.said('No data was received for 45 s.', WAIT_MS_MAX)));
    for (const each of [asleepTail, asleepListen]) each.child.kill('SIGCONT');
    await both(4);
    messages.push(await send(server, destination));
    received.push(await receive());
    await both(5);

    for (const each of [cutTail, asleepTail]) {
      const shown = each.lines().map(({ kind, event }) => `${kind} ${event.id.replace('evt', 'msg')}`);
      expect(shown.sort()).toEqual(
        messages.flatMap((id) => [`accepted ${id}`, `attempt ${id}`, `status ${id}`]).sort(),
      );
    }
    for (const each of [cutListen, asleepListen]) {
      // After a gap, several events are forwarded at the same time, and each is shown when its answer arrives.
      expect(
        each
          .lines()
          .map(({ event_id, is_again }) => `${event_id} ${is_again}`)
          .sort(),
      ).toEqual(received.map((id) => `${id} false`).sort());
    }
    expect(arrived.filter((url) => url === '/cut')).toHaveLength(5);
    expect(arrived.filter((url) => url === '/asleep')).toHaveLength(5);
  }, 240_000);

  it('if the gap is too old to be replayed, it is reported with its times, as text and as JSON', async () => {
    const beginning = await fetch(`${server.url}/v1/events/stream?follow=false`, {
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
    const [epoch, xid, atMs] = (/^id: (.+)$/m.exec(await beginning.text())?.[1] ?? '').split('.');
    const old = `${epoch}.${BigInt(xid ?? 0) - 1n}.${Number(atMs) - 3_700_000}`;
    const since = new Date(Number(atMs) - 3_700_000).toISOString();

    const people = await begun(server.url, 'people', ['events', 'tail', '--since-id', old], 'NOT SHOWN');
    const programs = await begun(server.url, 'programs', ['events', 'tail', '--json', '--since-id', old], '"gap"');
    await Promise.all([people.stop(), programs.stop()]);

    expect(people.err).toContain(`NOT SHOWN: events between ${since} and `);
    expect(programs.lines()[0]).toMatchObject({ kind: 'gap', gap: { reason: 'too_old', since } });
  });
});

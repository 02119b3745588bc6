import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { egressPolicy } from '#engine/egress-policy.js';
import { type NameAnswer, type NameServer, startNameServer } from '../../../test/support/name-server.js';
import { rawReceiver } from '../../../test/support/raw-receiver.js';
import { createConnector } from '../dial.js';
import { Names, type NamesOptions } from './names.js';

let folder: string;
let server: NameServer;
let zone: Record<string, NameAnswer>;
let nowMs: number;
const opened: Names[] = [];

function names(options: Partial<NamesOptions> = {}): Names {
  const made = new Names({
    servers: [server.address],
    hosts: path.join(folder, 'hosts'),
    resolvConf: path.join(folder, 'resolv.conf'),
    nowMs: () => nowMs,
    ...options,
  });
  opened.push(made);
  return made;
}

const addressesOf = async (asked: Names, name: string): Promise<string[]> =>
  (await asked.resolve(name)).map(({ address }) => address).sort();

const reasonOf = (asked: Names, name: string): Promise<unknown> =>
  asked.resolve(name).then(
    () => null,
    (error: { reason: string }) => error.reason,
  );

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'posthorn-names-'));
  nowMs = 0;
  zone = {};
  server = await startNameServer((name) => zone[name] ?? 'absent');
  writeFileSync(path.join(folder, 'resolv.conf'), 'search .\n');
});

afterEach(async () => {
  for (const each of opened.splice(0)) each.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a name', () => {
  it('has the addresses of both families, also behind an alias', async () => {
    zone['hooks.example.com'] = { addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'], alias: 'edge.example.net' };

    expect(await addressesOf(names(), 'Hooks.Example.com')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
  });

  it('is looked up once during its TTL, and at its new address after that', async () => {
    zone['hooks.example.com'] = { addresses: ['192.0.2.1'], ttlSeconds: 30 };
    const asked = names();
    await addressesOf(asked, 'hooks.example.com');
    zone['hooks.example.com'] = { addresses: ['192.0.2.9'], ttlSeconds: 30 };

    nowMs = 29_999;
    expect(await addressesOf(asked, 'hooks.example.com')).toEqual(['192.0.2.1']);
    nowMs = 30_000;
    expect(await addressesOf(asked, 'hooks.example.com')).toEqual(['192.0.2.9']);

    expect(server.questions.filter((question) => question.startsWith('A '))).toHaveLength(2);
  });

  it('with one address family is resolved even if the server never responds for the other', async () => {
    zone['four.example.com'] = { addresses: ['192.0.2.1'], silentFor: 6 };
    zone['six.example.com'] = { addresses: ['2001:db8::1'], silentFor: 4 };

    expect(await addressesOf(names(), 'four.example.com')).toEqual(['192.0.2.1']);
    expect(await addressesOf(names(), 'six.example.com')).toEqual(['2001:db8::1']);
  });

  it.each<[string, NameAnswer, string]>([
    ['that is absent', 'absent', 'ENOTFOUND'],
    ['without an address', { addresses: [] }, 'ENODATA'],
    ['whose servers fail', 'fails', 'ESERVFAIL'],
    ['whose servers never respond', 'silent', 'ETIMEOUT'],
  ])('%s fails with the reason', async (_what, answer, reason) => {
    zone['hooks.example.com'] = answer;

    expect(await reasonOf(names({ deadlineMs: 300 }), 'hooks.example.com')).toBe(reason);
  });

  it.each(['localhost', 'app.localhost', 'LOCALHOST.'])('%s resolves to loopback without a query', async (name) => {
    expect(await addressesOf(names(), name)).toEqual(['127.0.0.1', '::1']);
    expect(server.questions).toEqual([]);
  });

  it('below .invalid does not exist, without a query', async () => {
    expect(await reasonOf(names(), 'hooks.invalid')).toBe('ENOTFOUND');
    expect(server.questions).toEqual([]);
  });
});

describe('system files', () => {
  it('a name in the hosts file needs no query, and changes of the file take effect', async () => {
    const asked = names();
    writeFileSync(path.join(folder, 'hosts'), '192.0.2.7 Receiver.Example.com\n');
    expect(await addressesOf(asked, 'receiver.example.com')).toEqual(['192.0.2.7']);

    writeFileSync(path.join(folder, 'hosts'), '192.0.2.88 receiver.example.com localhost\n');
    nowMs = 2_000;

    expect(await addressesOf(asked, 'receiver.example.com')).toEqual(['192.0.2.88']);
    expect(await addressesOf(asked, 'localhost')).toEqual(['192.0.2.88']);
    expect(server.questions).toEqual([]);
  });

  it('search domains complete a name, and changes of the file take effect', async () => {
    zone['receiver.apps.example'] = { addresses: ['192.0.2.1'] };
    zone['receiver.others.example'] = { addresses: ['192.0.2.2'], ttlSeconds: 1 };
    const asked = names();
    writeFileSync(
      path.join(folder, 'resolv.conf'),
      'search none.example others.example apps.example\noptions ndots:2\n',
    );
    expect(await addressesOf(asked, 'receiver')).toEqual(['192.0.2.2']);

    writeFileSync(path.join(folder, 'resolv.conf'), 'search apps.example\n');
    nowMs = 2_000;

    expect(await addressesOf(asked, 'receiver')).toEqual(['192.0.2.1']);
    expect(await reasonOf(asked, 'receiver.')).toBe('ENOTFOUND');
  });
});

describe('names whose servers never respond', () => {
  it('do not delay another name, even in hundreds', async () => {
    zone = new Proxy(
      {},
      { get: (_zone, name: string) => (name === 'hooks.example.com' ? { addresses: ['192.0.2.1'] } : 'silent') },
    );
    const asked = names({ deadlineMs: 20_000 });
    const slow = Array.from({ length: 300 }, (_each, n) => reasonOf(asked, `n${n}.slow-${n % 3}.example`));
    // At most 32 lookups run per group of names (share).
    expect(asked.figures()).toEqual({ running: 3 * 32, waiting: 300 - 3 * 32 });

    expect(await addressesOf(asked, 'hooks.example.com')).toEqual(['192.0.2.1']);

    asked.close();
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['ECANCELLED']));
    expect(asked.figures()).toEqual({ running: 0, waiting: 0 });
  });

  it('fail immediately when they are requested again', async () => {
    zone['hooks.example.com'] = 'silent';
    const asked = names({ deadlineMs: 200 });
    await reasonOf(asked, 'hooks.example.com');
    const questions = server.questions.length;

    expect(await reasonOf(asked, 'hooks.example.com')).toBe('ETIMEOUT');
    expect(server.questions).toHaveLength(questions);
  });
});

describe('the policy', () => {
  it('is checked for every address of every connection, also for cached addresses', async () => {
    const receiver = await rawReceiver();
    zone['rebind.example.com'] = { addresses: ['127.0.0.1'], ttlSeconds: 60 };
    let policy = egressPolicy({ allowCidrs: ['127.0.0.0/8'], allowHttp: true });
    const connector = createConnector({ policy: () => policy, resolve: names().resolve, connectTimeoutMs: 5_000 });
    const { port } = receiver;
    const connect = (): Promise<unknown> =>
      new Promise((done) =>
        connector({ hostname: 'rebind.example.com', port: String(port), protocol: 'http:' }, (error, socket) => {
          socket?.destroy();
          done(error === null ? 'connected' : (error as NodeJS.ErrnoException).code);
        }),
      );

    expect(await connect()).toBe('connected');
    policy = egressPolicy({ allowCidrs: [], allowHttp: true });

    expect(await connect()).toBe('EGRESS_BLOCKED');
    expect(server.questions).toHaveLength(2);
    await receiver.close();
  });
});

import { once } from 'node:events';
import type { Socket } from 'node:net';
import net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { jest } from '@jest/globals';
import type { EgressPolicy } from '#engine/egress-policy.js';
import { egressPolicy } from '#engine/egress-policy.js';
import { TLS } from '../../test/support/egress.js';
import { HOSTILE_URLS } from '../../test/support/hostile-urls.js';
import type { RawReceiver } from '../../test/support/raw-receiver.js';
import { rawReceiver } from '../../test/support/raw-receiver.js';
import type { Resolver } from './dial.js';
import { createConnector, EgressBlocked } from './dial.js';
import { LookupFailed } from './names/lookup-failed.js';
import { Names } from './names/names.js';

const PUBLIC = '93.184.215.14';
const CLOSED = egressPolicy({ allowCidrs: [], allowHttp: true });

const answers = (...sets: string[][]): Resolver => {
  let calls = 0;
  return async () =>
    (sets[Math.min(calls++, sets.length - 1)] ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
};

const bySystem = new Names({ servers: [] }).resolve;

function dial(url: string, resolve: Resolver = bySystem, policy: EgressPolicy = CLOSED): Promise<Socket | Error> {
  const connector = createConnector({ policy: () => policy, resolve, connectTimeoutMs: 5000 });
  const { hostname, port, protocol } = new URL(url);
  return new Promise((done) => {
    connector({ hostname: hostname.replace(/^\[|\]$/g, ''), port, protocol }, (error, socket) => done(error ?? socket));
  });
}

describe('a canary server on loopback', () => {
  let canaries: RawReceiver[];
  let port: number;

  beforeEach(async () => {
    const v4 = await rawReceiver();
    port = v4.port;
    canaries = [v4, await rawReceiver(undefined, { host: '::1', port })];
  });

  afterEach(async () => {
    // Connects to each canary, which accepts connections in order. If this connection is its first, the code under test
    // has not connected.
    for (const [index, canary] of canaries.entries()) {
      const before = canary.connections;
      const probe = net.connect(port, index === 0 ? '127.0.0.1' : '::1');
      probe.write('GET / HTTP/1.1\r\n\r\n');
      await once(probe, 'data');
      probe.destroy();
      expect(canary.connections).toBe(before + 1);
      expect(before).toBe(0);
    }
    await Promise.all(canaries.map((canary) => canary.close()));
  });

  it.each([
    ['loopback', [['127.0.0.1']]],
    ['IPv6 loopback', [['::1']]],
    ['a mapped address', [['::ffff:127.0.0.1']]],
    ['a public address before a private one', [[PUBLIC, '127.0.0.1']]],
    ['a private address before a public one', [['127.0.0.1', PUBLIC]]],
    ['a public A and a private AAAA record', [['::1', PUBLIC]]],
    ['a public AAAA and a private A record', [['2606:4700::1111', '127.0.0.1']]],
    ['the unspecified address', [['0.0.0.0']]],
    ['an address with a zone', [['fe80::1%lo']]],
    ['a name instead of an address', [['localhost']]],
  ])('receives nothing for a name that resolves to %s', async (_what, sets) => {
    expect(await dial(`http://rebind.example:${port}/`, answers(...sets))).toBeInstanceOf(EgressBlocked);
  });

  it.each([
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '[::]',
    '2130706433',
    'localhost',
    'localhost.',
    'app.localhost',
  ])('receives nothing for http://%s, and the resolver is not called', async (host) => {
    const resolve: Resolver = () => Promise.reject(new Error('was asked'));

    expect(await dial(`http://${host}:${port}/`, resolve)).toBeInstanceOf(EgressBlocked);
  });

  it('receives nothing if it is one of our own listeners, even if loopback is allowed', async () => {
    const policy = egressPolicy({
      allowCidrs: ['127.0.0.0/8'],
      allowHttp: true,
      ownListeners: [{ address: '0.0.0.0', port }],
    });

    expect(await dial(`http://127.0.0.1:${port}/`, undefined, policy)).toBeInstanceOf(EgressBlocked);
    expect(await dial(`http://localhost:${port}/`, undefined, policy)).toBeInstanceOf(EgressBlocked);
    expect(await dial(`http://hooks.example.com:${port}/`, answers(['::1']), policy)).toBeInstanceOf(EgressBlocked);
  });
});

describe('every hostile URL that the parser accepts', () => {
  const parsed = HOSTILE_URLS.filter(({ url }) => URL.canParse(url) && /^https?:/.test(new URL(url).protocol));

  it.each(
    parsed
      .filter(({ url }) => !/[@#]|aaaa|éééé/.test(url))
      .map(({ url, why, resolvesTo }) => ({ url, why, resolvesTo })),
  )('is rejected at connect, too: $url ($why)', async ({ url, resolvesTo }) => {
    const resolve: Resolver = resolvesTo ? answers([...resolvesTo]) : () => Promise.reject(new Error('was asked'));

    expect(await dial(url, resolve)).toBeInstanceOf(EgressBlocked);
  });
});

describe('DNS rebinding', () => {
  // 127.0.0.2 represents a public address. Linux responds on all of 127/8, other systems only on 127.0.0.1.
  const onLinux = process.platform === 'linux' ? it : it.skip;

  onLinux('is dialled at the address that was checked, and refused when it is resolved anew to another', async () => {
    const receiver = await rawReceiver(undefined, { host: '127.0.0.2' });
    const canary = await rawReceiver(undefined, { host: '127.0.0.1', port: receiver.port });
    const policy = egressPolicy({ allowCidrs: ['127.0.0.2/32'], allowHttp: true });
    const resolve = answers(['127.0.0.2'], ['127.0.0.1']);

    const first = await dial(`http://rebind.example:${receiver.port}/`, resolve, policy);
    const second = await dial(`http://rebind.example:${receiver.port}/`, resolve, policy);

    expect(first).toBeInstanceOf(net.Socket);
    expect((first as Socket).remoteAddress).toBe('127.0.0.2');
    expect(second).toBeInstanceOf(EgressBlocked);
    expect(canary.connections).toBe(0);
    (first as Socket).destroy();
    await Promise.all([receiver.close(), canary.close()]);
  });
});

describe('the message of a rejection', () => {
  it('names the host and the kind of address, not the address', async () => {
    const error = await dial('https://hooks.example.com/', answers(['10.9.8.7']));

    expect(error).toMatchObject({ code: 'EGRESS_BLOCKED', message: expect.stringContaining('hooks.example.com') });
    expect((error as Error).message).toContain('private network');
    expect((error as Error).message).not.toContain('10.9.8.7');
  });

  it('explains why a mix of public and private addresses is rejected as a whole', async () => {
    expect(await dial('https://hooks.example.com/', answers([PUBLIC, '10.9.8.7']))).toMatchObject({
      message: expect.stringContaining('One of its addresses'),
    });
  });

  it.each([
    [
      'a resolver that rejects',
      () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
      'ENOTFOUND',
    ],
    ['a resolver that finds no address', answers([]), 'ENODATA'],
  ])('%s is a failed lookup', async (_what, resolve, reason) => {
    const error = await dial('https://hooks.example.com/', resolve);

    expect(error).toBeInstanceOf(LookupFailed);
    expect(error).toMatchObject({ reason });
  });
});

it('calls the policy for every connection', async () => {
  const receiver = await rawReceiver();
  let policy = egressPolicy({ allowCidrs: ['127.0.0.0/8'], allowHttp: true });
  const connector = createConnector({ policy: () => policy, resolve: bySystem, connectTimeoutMs: 5000 });
  const target = { hostname: '127.0.0.1', port: String(receiver.port), protocol: 'http:' };
  const connect = (): Promise<Socket | Error> =>
    new Promise((done) => connector(target, (error, socket) => done(error ?? socket)));

  const before = await connect();
  policy = CLOSED;
  const after = await connect();

  expect(before).toBeInstanceOf(net.Socket);
  expect(after).toBeInstanceOf(EgressBlocked);
  (before as Socket).destroy();
  await receiver.close();
});

it('also reports a socket that closes without an error before it is open', async () => {
  const made = jest.spyOn(net.Socket.prototype, 'setKeepAlive');
  const dialled = dial('http://hooks.example.com/', () => new Promise(() => undefined));
  (made.mock.contexts[0] as Socket).destroy();
  made.mockRestore();

  expect(await dialled).toMatchObject({ code: 'ECONNRESET' });
});

describe('a TLS connection', () => {
  const open = egressPolicy({ allowCidrs: ['127.0.0.0/8'], allowHttp: true });

  it('resumes the session of the previous connection to the same server', async () => {
    const receiver = await rawReceiver(undefined, { tls: TLS });
    const connector = createConnector({ policy: () => open, resolve: bySystem, connectTimeoutMs: 5000, ca: TLS.cert });
    const connect = (): Promise<TLSSocket> =>
      new Promise((done, fail) =>
        connector({ hostname: '127.0.0.1', port: String(receiver.port), protocol: 'https:' }, (error, socket) =>
          error === null ? done(socket as TLSSocket) : fail(error),
        ),
      );

    const first = await connect();
    await once(first, 'session');
    const second = await connect();

    expect([first.isSessionReused(), second.isSessionReused()]).toEqual([false, true]);
    expect(second.authorized).toBe(true);
    for (const socket of [first, second]) socket.destroy();
    await receiver.close();
  });

  it('that is accepted and never answered times out', async () => {
    const silent = await rawReceiver(() => undefined);
    const connector = createConnector({ policy: () => open, resolve: bySystem, connectTimeoutMs: 50 });

    const error = await new Promise((done) =>
      connector({ hostname: '127.0.0.1', port: String(silent.port), protocol: 'https:' }, (...answer) =>
        done(answer[0]),
      ),
    );

    expect(error).toMatchObject({ code: 'ETIMEDOUT' });
    await silent.close();
  });
});

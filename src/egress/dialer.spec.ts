import net, { type Socket } from 'node:net';
import { type EgressPolicy, egressPolicy } from '#engine/egress-policy.js';
import { type RawReceiver, rawReceiver } from '../../test/support/raw-receiver.js';
import { Dialer, DialFailed, type DialTarget, failureOf } from './dialer.js';
import type { EgressGate } from './gate.js';
import { Names } from './names/names.js';

const OPEN = egressPolicy({ allowCidrs: ['127.0.0.0/8'], allowHttp: true });
const CLOSED = egressPolicy({ allowCidrs: [], allowHttp: true });
const TLS_ONLY = egressPolicy({ allowCidrs: ['127.0.0.0/8'], allowHttp: false });

const dialer = (policy: EgressPolicy): Dialer =>
  new Dialer({ policy: () => policy } as EgressGate, new Names({ servers: [] }));
const broker = (target: Partial<DialTarget> = {}): DialTarget => ({
  hostname: 'broker.example.com',
  port: 4222,
  isEncrypted: true,
  ...target,
});

describe('Dialer.refusal', () => {
  it.each<[string, EgressPolicy, Partial<DialTarget>, RegExp | null]>([
    ['the port of its protocol', CLOSED, { protocolPort: 4222 }, null],
    ['the port of another protocol', CLOSED, {}, /Port 4222 is not open/],
    ['another port than that of its protocol', CLOSED, { port: 6379, protocolPort: 4222 }, /Port 6379 is not open/],
    ['a port without a known protocol', CLOSED, { port: 14_222 }, null],
    ['a private address', CLOSED, { hostname: '10.0.0.1', protocolPort: 4222 }, /EGRESS_ALLOW_CIDRS/],
    ['IPv6 loopback', CLOSED, { hostname: '::1', protocolPort: 4222 }, /EGRESS_ALLOW_CIDRS/],
    ['a metadata service', OPEN, { hostname: 'metadata.google.internal', protocolPort: 4222 }, /metadata/],
    ['an allowed address', OPEN, { hostname: '127.0.0.1', protocolPort: 4222 }, null],
    ['plain text', TLS_ONLY, { hostname: '127.0.0.1', isEncrypted: false }, /Use TLS/],
    ['allowed plain text', OPEN, { hostname: '127.0.0.1', isEncrypted: false }, null],
    ['an invalid host name', OPEN, { hostname: 'a..b' }, /not a host name/],
  ])('%s', (_what, policy, target, expected) => {
    const refusal = dialer(policy).refusal(broker(target));

    if (expected === null) expect(refusal).toBeNull();
    else expect(refusal).toMatch(expected);
  });

  it('never allows one of our own listeners, not even for the protocol of its port', () => {
    const policy = egressPolicy({
      allowCidrs: ['127.0.0.0/8'],
      allowHttp: true,
      ownListeners: [{ address: '127.0.0.1', port: 4222 }],
    });

    expect(dialer(policy).refusal(broker({ hostname: '127.0.0.1', protocolPort: 4222 }))).toMatch(
      /listener of this service itself/,
    );
  });
});

describe('Dialer.open', () => {
  let canary: RawReceiver;

  beforeEach(async () => (canary = await rawReceiver()));
  afterEach(() => canary.close());

  const at = (hostname: string): DialTarget => ({ hostname, port: canary.port, isEncrypted: true });
  const failure = (dialling: Promise<Socket>): Promise<unknown> =>
    dialling.then(
      () => null,
      (error: unknown) => error,
    );

  it.each(['127.0.0.1', 'localhost'])('returns a socket connected to %s', async (hostname) => {
    const socket = await dialer(OPEN).open(at(hostname), { timeoutMs: 5_000 });

    expect(socket.remotePort).toBe(canary.port);
    expect(socket.listenerCount('error')).toBe(0);
    socket.destroy();
  });

  it.each(['127.0.0.1', '::1', 'localhost', '::ffff:127.0.0.1'])(
    'does not connect to %s if loopback is not allowed',
    async (hostname) => {
      const error = await failure(dialer(CLOSED).open(at(hostname), { timeoutMs: 5_000 }));

      expect(error).toBeInstanceOf(DialFailed);
      expect(error).toMatchObject({ failure: 'blocked' });
      expect(canary.connections).toBe(0);
    },
  );

  it('calls the policy every time', async () => {
    let policy = OPEN;
    const asked = new Dialer({ policy: () => policy } as EgressGate, new Names({ servers: [] }));
    (await asked.open(at('127.0.0.1'), { timeoutMs: 5_000 })).destroy();

    policy = CLOSED;

    expect(await failure(asked.open(at('127.0.0.1'), { timeoutMs: 5_000 }))).toMatchObject({ failure: 'blocked' });
  });

  it('reports that nothing listens, without the address', async () => {
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as net.AddressInfo;
    await new Promise((resolve) => server.close(resolve));

    const error = await failure(
      dialer(OPEN).open({ hostname: '127.0.0.1', port, isEncrypted: true }, { timeoutMs: 5_000 }),
    );

    expect(error).toMatchObject({ failure: 'connection', message: expect.not.stringContaining('127.0.0.1') as string });
  });

  it('reports that a name does not resolve', async () => {
    const error = await failure(
      dialer(OPEN).open(
        { hostname: 'nobody.invalid', port: 4222, isEncrypted: true, protocolPort: 4222 },
        { timeoutMs: 5_000 },
      ),
    );

    expect(error).toMatchObject({ failure: 'dns' });
  });
});

describe('failureOf', () => {
  it.each([
    [new DialFailed('dns', 'No such name.'), 'dns'],
    [Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'tls'],
    [Object.assign(new Error('read ECONNRESET 10.1.2.3:4222'), { code: 'ECONNRESET' }), 'connection'],
  ])('%s is %s', (error, expected) => {
    const { failure, message } = failureOf(error);

    expect(failure).toBe(expected);
    expect(message).not.toContain('10.1.2.3');
  });
});

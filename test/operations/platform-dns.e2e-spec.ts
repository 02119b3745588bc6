import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../api/polling.js';
import { openSql } from '../api/scene.js';
import { createDatabase } from '../support/database.js';
import { run } from '../support/program.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer } from '../support/zone-server.js';

const PLATFORM = 'posthorn.example';
const ENV = {
  PLATFORM_DOMAIN: PLATFORM,
  PLATFORM_ADDRESSES: '192.0.2.1,2001:db8::1',
  PLATFORM_SPF: 'include:amazonses.com',
};

/** Returns the records of a zone file by `TYPE name`. The strings of a record are joined. */
function parse(text: string): Map<string, string[]> {
  const records = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, name = '', type = '', value = ''] = /^(\S+)\. \d+ IN ([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === '') continue;
    const plain =
      type === 'TXT' ? [...value.matchAll(/"([^"]*)"/g)].map(([, each]) => each).join('') : value.replace(/\.$/, '');
    records.set(`${type} ${name}`, [...(records.get(`${type} ${name}`) ?? []), plain]);
  }
  return records;
}

describe('posthorn dns and DNS_PORT', () => {
  let server: PosthornServer;
  let port: number;
  let resolver: Resolver;

  beforeAll(async () => {
    server = await startServer({ ...ENV, DNS_PORT: '0', LOG_LEVEL: 'info' });
    port = Number(
      /on port (\d+)/.exec(
        server
          .logs()
          .split('\n')
          .find((line) => line.includes('The zone of')) ?? '',
      )?.[1],
    );
    resolver = new Resolver({ timeout: 2_000, tries: 3 });
    resolver.setServers([`127.0.0.1:${port}`]);
  });

  afterAll(() => server.stop());

  const ask = async (type: string, name: string): Promise<string[]> => {
    if (type === 'TXT') return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
    if (type === 'MX')
      return (await resolver.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${exchange}`);
    return type === 'A' ? resolver.resolve4(name) : resolver.resolve6(name);
  };

  it('the command prints exactly the answers of the listener, with strings that are valid in a zone file', async () => {
    const { code, out, err } = await run('dns', server.env);
    const printed = parse(out);

    expect([code, err]).toEqual([0, '']);
    expect([...printed.keys()]).toEqual([
      `A ${PLATFORM}`,
      `AAAA ${PLATFORM}`,
      `A mx.${PLATFORM}`,
      `AAAA mx.${PLATFORM}`,
      `MX ${PLATFORM}`,
      `TXT ${PLATFORM}`,
      `TXT spf.${PLATFORM}`,
      `MX bounce.${PLATFORM}`,
      `TXT bounce.${PLATFORM}`,
      `TXT ph1._domainkey.${PLATFORM}`,
      `TXT ph2._domainkey.${PLATFORM}`,
    ]);
    for (const [key, values] of printed) {
      const [type = '', name = ''] = key.split(' ');
      expect({ key, values: await ask(type, name) }).toEqual({ key, values });
    }
    for (const [, text = ''] of out.matchAll(/"([^"]*)"/g)) expect(text.length).toBeLessThanOrEqual(255);
    expect(printed.get(`TXT ph1._domainkey.${PLATFORM}`)?.[0]).toMatch(/^v=DKIM1; k=rsa; p=MII[A-Za-z0-9+/]{300,}=*$/);
    expect((await run('dns', server.env, [], 'files')).out).toBe(out);
  });

  it('answers only for its own zone', async () => {
    expect(await resolver.resolveSoa(PLATFORM)).toMatchObject({
      nsname: `ns1.${PLATFORM}`,
      hostmaster: `hostmaster.${PLATFORM}`,
    });
    expect(await resolver.resolveNs(PLATFORM)).toEqual([`ns1.${PLATFORM}`, `ns2.${PLATFORM}`]);
    await expect(resolver.resolve4(`nobody.${PLATFORM}`)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolveTxt(`mx.${PLATFORM}`)).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolver.resolve4('example.com')).rejects.toMatchObject({ code: 'EREFUSED' });
  });

  it('continues to answer during garbage over UDP and TCP, and during a flood', async () => {
    const udp = createSocket('udp4');
    for (let n = 0; n < 3_000; n += 1)
      udp.send(Buffer.from(Array.from({ length: n % 64 }, (_each, i) => (n * 31 + i * 17) % 256)), port, '127.0.0.1');
    const sockets = Array.from({ length: 20 }, (_each, n) => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(n % 2 === 0 ? Buffer.from([255, 255, 1]) : Buffer.from([0, 5, 1, 2, 3, 4, 5]));
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    udp.close();

    // Clients in the network of a flood get no answers until the flood ends.
    await until(
      () => ask('A', PLATFORM).catch(() => []),
      (addresses) => addresses.length === 1,
    );
  });

  it('a port that is in use stops the start with one line', async () => {
    const { code, err } = await run('main', { ...server.env, PORT: '0', DNS_PORT: String(port) });

    expect(code).toBe(1);
    expect(err).toBe(
      `Posthorn did not start: Port ${port} of 127.0.0.1 is taken by another process: stop that one, or set another DNS_PORT.\n`,
    );
  });

  describe('the keys, rotated', () => {
    let zone: ZoneServer;
    let env: Readonly<Record<string, string>>;

    beforeAll(async () => {
      zone = await startZoneServer();
      env = { ...server.env, DNS_PORT: '', DNS_SERVERS: zone.address };
    });

    afterAll(() => zone.close());

    it('a new key is stored under the idle selector and signs only once its record is visible; the old key stays published', async () => {
      const keyOf = (text: string, selector: string): string | undefined =>
        parse(text).get(`TXT ${selector}._domainkey.${PLATFORM}`)?.[0];
      const before = (await run('dns', env)).out;

      const made = await run('dns', env, ['--rotate-dkim']);
      const early = await run('dns', env, ['--rotate-dkim']);
      const between = (await run('dns', env)).out;
      zone.set(`ph2._domainkey.${PLATFORM}`, 'TXT', [keyOf(made.out, 'ph2') ?? '']);
      const moved = await run('dns', env, ['--rotate-dkim']);
      const after = (await run('dns', env)).out;
      const back = await run('dns', env, ['--rotate-dkim']);
      const blind = await run('dns', env, ['--rotate-dkim', '--now']);

      expect(keyOf(made.out, 'ph2')).not.toBe(keyOf(before, 'ph2'));
      expect(early).toMatchObject({ code: 1, out: '', err: expect.stringContaining('it has no record') });
      expect(between).toContain('signed with ph1');
      expect(moved).toMatchObject({ code: 0, err: '' });
      expect(after).toContain('signed with ph2');
      expect([keyOf(after, 'ph1'), keyOf(after, 'ph2')]).toEqual([keyOf(before, 'ph1'), keyOf(made.out, 'ph2')]);
      expect(keyOf(back.out, 'ph1')).not.toBe(keyOf(before, 'ph1'));
      expect(blind.code).toBe(0);
      expect((await run('dns', env)).out).toContain('signed with ph1');
      const sql = openSql(server);
      const entries = await sql.rows(
        "select actor_kind, resource_id, before, after from audit_log where action = 'posthorn dns --rotate-dkim' order by id",
      );
      await sql.close();
      expect(entries).toEqual(
        ['ph2', 'ph1'].flatMap((selector) => [
          { actor_kind: 'operator', resource_id: selector, before: null, after: { state: 'next' } },
          { actor_kind: 'operator', resource_id: selector, before: { state: 'next' }, after: { state: 'current' } },
        ]),
      );
    });

    it.each<[string, string[], Record<string, string>, RegExp]>([
      ['an unknown option', ['--rotate'], {}, /The options are --rotate-dkim/],
      ['--now alone', ['--now'], {}, /The options are --rotate-dkim/],
      ['no platform domain', [], { PLATFORM_DOMAIN: '' }, /PLATFORM_DOMAIN is not set/],
    ])('the command rejects %s in one line', async (_what, args, more, line) => {
      const { code, out, err } = await run('dns', { ...env, ...more }, args);

      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(line);
      expect(err.trimEnd()).not.toContain('\n');
    });
  });
});

describe('the keys', () => {
  it('are created once, whichever of several processes needs them first, and are stored sealed', async () => {
    const database = await createDatabase();
    const env = { ...ENV, DATABASE_URL: database.url };
    const first = await startServer(env);
    const other = await startServer(first.env);
    const sql = openSql(first);
    try {
      const outs = await Promise.all([
        run('dns', first.env),
        run('dns', first.env),
        ...[first, other].map((each, n) =>
          each.api('POST', '/v1/domains', { domain: `d${n}.customer.example`, kind: 'email-send' }),
        ),
      ]);

      expect((outs[0] as { out: string }).out).toBe((outs[1] as { out: string }).out);
      const rows = await sql.rows<{ selector: string; state: string; private_key: Buffer }>(
        'select selector, state, private_key from dkim_keys order by selector',
      );
      expect(rows.map(({ selector, state }) => [selector, state])).toEqual([
        ['ph1', 'current'],
        ['ph2', 'idle'],
      ]);
      // The keys are encrypted: they have the vault's format and do not contain the beginning of PKCS #8.
      for (const { private_key: key } of rows)
        expect([key[0], key.includes(Buffer.from('300d06092a864886f70d010101', 'hex'))]).toEqual([2, false]);
    } finally {
      await sql.close();
      await Promise.all([first.stop(), other.stop()]);
      await database.drop();
    }
  });
});

import { hasDkimpy, signatureVerdicts } from '../support/dkim-verifiers.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey } from './answers.js';
import { until } from './polling.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import { expectStatus, openSql, type Sql, uuidOf, WITHIN_MS } from './scene.js';
import { idIn, submissionPortOf, submit } from './submitting.js';

const HOST = 'mail.example.com';
const TEST_HOST = 'test.example.com';
const PASS = { dkim: ['pass'] };
const BODY = 'It is on its way.\r\n';

let made = 0;

function letterFrom(host: string): { subject: string; message: string } {
  made += 1;
  const subject = `Order ${made}`;
  return {
    subject,
    message: [`From: shop@${host}`, 'To: a@one.example', `Subject: ${subject}`, '', BODY].join('\r\n'),
  };
}

/** Submitted messages, which are signed when they are read for the first time. */
describe('signatures of submitted messages', () => {
  let server: PosthornServer;
  let relay: Relay;
  let sql: Sql;
  let port: number;
  let key: string;
  /** A key of the test environment, whose emails are captured, and therefore signed only when a client reads them. */
  let test: { key: string };
  let records: Record<string, string>;

  beforeAll(async () => {
    relay = await startRelay();
    server = await startServer({
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
      SUBMISSION_PORT: '0',
      LOG_LEVEL: 'info',
    });
    port = await submissionPortOf(server, 'without STARTTLS');
    sql = openSql(server);
    ({ key } = await createKey(server, { scope: 'admin' }));
    await verifyDomain(server, sql, HOST);
    test = await createKey(server, { scope: 'admin', environment: 'test' });
    const domain = { domain: TEST_HOST, kind: 'email-send' };
    expectStatus(await server.api('POST', '/v1/domains', domain, as(test.key)), 201);
    await sql.rows(
      `update domains set state = 'verified', is_owner = true, sending_enabled = true, next_check_at = now() + interval '1 day', verified_at = now() where host = $1`,
      [TEST_HOST],
    );
    records = Object.fromEntries(
      (await sql.rows<Record<string, string>>('select selector, public_key from dkim_keys')).flatMap((row) =>
        [HOST, TEST_HOST].map((host) => [
          `${row['selector']}._domainkey.${host}`,
          `v=DKIM1; k=rsa; p=${row['public_key']}`,
        ]),
      ),
    );
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await relay?.close();
  });

  /** Returns the raw message of an email, byte for byte. */
  const rawOf = async (id: string, ofKey: string): Promise<string> =>
    expectStatus(await server.api('GET', `/v1/emails/${id}/raw`, undefined, as(ofKey)), 200).text;
  const isSigned = async (id: string): Promise<boolean> => {
    const [row] = await sql.rows('select signature <> $2 as signed from emails where id = $1', [uuidOf(id), '']);
    return row?.['signed'] === true;
  };

  it('200: the raw message equals the bytes that the next server gets', async () => {
    const { subject, message } = letterFrom(HOST);
    const id = idIn(await submit(port, key, 'a@one.example', message));
    const [relayed] = await until(
      async () => relay.taken.filter(({ raw }) => raw.includes(`Subject: ${subject}\r\n`)),
      (found) => found.length > 0,
      WITHIN_MS,
    );

    const raw = await rawOf(id, key);

    expect(raw).toMatch(/^DKIM-Signature: /);
    expect(raw).toContain(`\r\n\r\n${BODY}`);
    expect(relayed?.raw).toBe(raw);
  });

  it.each([
    ['an encoded word that decodes to brackets', '=?utf-8?q?a=3E_=40evil.example_=3C?='],
    ['an encoded word inside an encoded word', '=?utf-8?q?=3D=3Futf-8=3Fq=3Fa=3F=3D?='],
    ['a long name', `"${'Shop '.repeat(150)}"`],
  ])('200: the domain signs a message whose author has %s as name', async (_what, name) => {
    const message = letterFrom(TEST_HOST).message.replace('From: ', `From: ${name} <`).replace('.com\r\n', '.com>\r\n');
    const id = idIn(await submit(port, test.key, 'a@one.example', message));

    expect(await rawOf(id, test.key)).toMatch(/^DKIM-Signature: [^]*? d=test\.example\.com;/);
  });

  it('200: concurrent first reads return the same signed message', async () => {
    const { message } = letterFrom(TEST_HOST);
    const id = idIn(await submit(port, test.key, 'a@one.example', message));

    expect(await isSigned(id)).toBe(false);
    const raws = await Promise.all(Array.from({ length: 8 }, () => rawOf(id, test.key)));

    expect(new Set(raws).size).toBe(1);
    expect(raws[0]).toMatch(/^DKIM-Signature: /);
    if (hasDkimpy())
      expect(await signatureVerdicts(raws[0] ?? '', records)).toMatchObject({ dkimpy: PASS, mailauth: PASS });
    expect(await isSigned(id)).toBe(true);
    // Another key would sign differently, so the stored signature is used again.
    const stored = 'X-Stored: yes\r\n';
    await sql.rows(
      'update emails set signature = $2 || signature, size_bytes = size_bytes + length($2) where id = $1',
      [uuidOf(id), stored],
    );
    expect(await rawOf(id, test.key)).toBe(stored + raws[0]);
  });

  it('200: an email whose domain was deleted before it was signed is signed for the domain of the platform', async () => {
    const { message } = letterFrom(TEST_HOST);
    const id = idIn(await submit(port, test.key, 'a@one.example', message));
    const domains = expectStatus(await server.api('GET', '/v1/domains', undefined, as(test.key)), 200).json.data;
    for (const domain of domains)
      expectStatus(await server.api('DELETE', `/v1/domains/${domain.id}`, undefined, as(test.key)), 204);

    const raw = await rawOf(id, test.key);

    expect(raw).toMatch(/^DKIM-Signature: [^]*? d=posthorn\.example;/);
    expect(await submit(port, test.key, 'a@one.example', letterFrom(TEST_HOST).message)).toMatch(
      /^550 5\.7\.1 from: test\.example\.com is not a verified sending domain/,
    );
  });
});

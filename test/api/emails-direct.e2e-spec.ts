import { isPostfixInstalled, Postfix } from '../support/postfix.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer } from '../support/zone-server.js';
import { emailAfter, emailIn, rawOf } from './emailing.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql } from './scene.js';

/** Delivers directly to a third-party mail server, which forwards the messages to a relay that records them. */
(isPostfixInstalled() ? describe : describe.skip)('EMAIL_TRANSPORT=direct:', () => {
  let zone: ZoneServer;
  let behind: Relay;
  let postfix: Postfix;
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    [zone, behind] = await Promise.all([startZoneServer(), startRelay()]);
    postfix = await Postfix.start(behind.port, {
      'no@x.example': '550 5.1.1 User unknown',
      'later@x.example': '450 4.2.0 Greylisted, try again in 5 minutes',
    });
    for (const domain of ['x.example', 'y.example']) zone.set(domain, 'MX', ['5 away.x.example', '10 mx.x.example']);
    zone.set('away.x.example', 'A', ['127.0.0.77']);
    zone.set('mx.x.example', 'A', ['127.0.0.1']);
    zone.set('null.example', 'MX', ['0 .']);
    server = await startServer({
      EMAIL_TRANSPORT: `direct:?port=${postfix.port}`,
      PLATFORM_DOMAIN: 'posthorn.example',
      DNS_SERVERS: zone.address,
    });
    sql = openSql(server);
    await verifyDomain(server, sql, 'mail.example.com');
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await postfix?.stop();
    await Promise.all([behind?.close(), zone?.close()]);
  });

  const send = async (to: string[]): Promise<string> =>
    expectStatus(
      await server.api('POST', '/v1/emails', {
        from: 'shop@mail.example.com',
        to,
        subject: 'Your order',
        text: 'It is on its way.',
      }),
      202,
    ).json.id as string;

  it("a message reaches the server in the domain's MX records unchanged, even if the first MX is down", async () => {
    const id = await send(['a@x.example', 'b@y.example']);

    await emailIn(server, id, 'delivered');
    const taken = await behind.took(2);
    expect(taken.map(({ to }) => to[0]).sort()).toEqual(['a@x.example', 'b@y.example']);
    const raw = await rawOf(server, id);
    for (const message of taken) expect(Buffer.from(message.raw, 'latin1').toString().endsWith(raw)).toBe(true);
    expect((await emailAfter(server, id, 1)).attempts).toMatchObject([{ status: 250 }]);
    expect(taken[0]?.raw).toMatch(/^Received: from posthorn\.example /m);
  });

  it('distinguishes recipients: one unknown, one deferred, one whose domain accepts no email', async () => {
    const id = await send(['no@x.example', 'later@x.example', 'a@null.example']);

    const email = await emailAfter(server, id, 1);
    const states = Object.fromEntries(
      email.recipients.map(({ address, status }: { address: string; status: string }) => [address, status]),
    );
    expect(states).toEqual({ 'no@x.example': 'bounced', 'later@x.example': 'sending', 'a@null.example': 'bounced' });
    expect((await server.api('GET', '/v1/suppressions/a@null.example')).status).toBe(200);
  });
});

import { type ScriptedMailServer, scriptedMailServer } from '../support/scripted-mail-server.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer } from '../support/zone-server.js';
import { emailAfter, emailIn } from './emailing.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import { expectStatus, openSql } from './scene.js';

const DOMAINS = 100;

/** Delivers directly to domains that share a mail server. This server accepts connections, but never replies. */
describe('EMAIL_TRANSPORT=direct: with a silent mail server', () => {
  let zone: ZoneServer;
  let healthy: Relay;
  let silent: ScriptedMailServer;
  let server: PosthornServer;

  beforeAll(async () => {
    [zone, healthy] = await Promise.all([startZoneServer(), startRelay()]);
    silent = await scriptedMailServer(() => undefined, undefined, { address: '127.0.0.2', port: healthy.port });
    zone.set('mx.silent.example', 'A', ['127.0.0.2']);
    zone.set('mx.x.example', 'A', ['127.0.0.1']);
    zone.set('x.example', 'MX', ['10 mx.x.example']);
    for (let i = 0; i < DOMAINS; i += 1) zone.set(`silent${i}.example`, 'MX', ['10 mx.silent.example']);
    server = await startServer({
      EMAIL_TRANSPORT: `direct:?port=${healthy.port}`,
      PLATFORM_DOMAIN: 'posthorn.example',
      DNS_SERVERS: zone.address,
    });
    const sql = openSql(server);
    await verifyDomain(server, sql, 'mail.example.com');
    await sql.close();
  });

  afterAll(async () => {
    silent?.close();
    await server?.stop();
    await Promise.all([healthy?.close(), zone?.close()]);
  });

  const emailTo = (to: string): object => ({ from: 'shop@mail.example.com', to, subject: 'Your order', text: 'x' });

  it('mail to many domains on one silent server is deferred and does not block mail to other servers', async () => {
    const many = Array.from({ length: DOMAINS }, (_, i) => emailTo(`a@silent${i}.example`));
    const batch = expectStatus(await server.api('POST', '/v1/emails/batch', many), 202).json.data as { id: string }[];
    const sent = expectStatus(await server.api('POST', '/v1/emails', emailTo('a@x.example')), 202).json;
    const startedMs = performance.now();

    await emailIn(server, sent.id, 'delivered');
    expect(performance.now() - startedMs).toBeLessThan(20_000);

    const email = await emailAfter(server, batch.at(-1)?.id ?? '', 1);
    expect(email).toMatchObject({ status: 'sending', recipients: [{ status: 'sending' }] });
    expect(JSON.stringify(email)).toContain('this mail server did not reply to other mail in time');
    expect(silent.connections).toBeLessThan(10);
  }, 60_000);
});

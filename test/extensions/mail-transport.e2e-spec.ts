import { createServer, type Server } from 'node:http';
import { mailTransportConformance, type MailTransportUnderTest, type SubmittedMail } from '../../src/testing/index.js';
import { emailAfter, emailIn, sendEmail } from '../api/emailing.js';
import { verifyDomain } from '../api/relay.js';
import { openSql, type Sql } from '../api/scene.js';
import { freePort } from '../durability/processes.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { type InlineExtension, inlineExtension } from './inline-extension.js';
import { compileSample, SMALL_SAMPLE } from './sample.js';

const HOST = 'mail.example.com';
const FROM = `shop@${HOST}`;
const STATUS = { accept: 202, refuse: 422, defer: 503 } as const;

/** Acme's HTTP API, which can be stopped. */
class AcmeApi {
  readonly mails: SubmittedMail[] = [];
  how: keyof typeof STATUS = 'accept';
  private server: Server | null = null;

  constructor(readonly port: number) {}

  async up(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const recipients = String(request.headers['x-to']).split(',');
        if (this.how === 'accept') this.mails.push({ raw: Buffer.concat(chunks).toString(), recipients });
        response.writeHead(STATUS[this.how]).end();
      });
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
  }

  async down(): Promise<void> {
    const { server } = this;
    if (server === null) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
}

async function startSending(env: Record<string, string>): Promise<{ server: PosthornServer; sql: Sql }> {
  const server = await startServer({ PLATFORM_DOMAIN: 'posthorn.example', ...env });
  const sql = openSql(server);
  await verifyDomain(server, sql, HOST);
  return { server, sql };
}

describe("the sample's email transport", () => {
  let api: AcmeApi;
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    api = new AcmeApi(await freePort());
    await api.up();
    ({ server, sql } = await startSending({
      EXTENSIONS: compileSample(SMALL_SAMPLE).file,
      EMAIL_TRANSPORT: 'extension:acme',
      ACME_MAIL_URL: `http://127.0.0.1:${api.port}/messages`,
    }));
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await api?.down();
  });

  const subject: MailTransportUnderTest = {
    service: () => server,
    sender: FROM,
    received: () => api.mails,
    answer: (how) => void (api.how = how),
    stopServer: () => api.down(),
    startServer: () => api.up(),
  };

  it.each(mailTransportConformance(subject).map(({ name, run }) => [name, run] as const))(
    '%s',
    (_name, run) => run(),
    60_000,
  );
});

/** Code of a transport. The name of the first recipient selects its behavior. */
const ODD = `
import { Module } from '@nestjs/common';
import { NamedMailTransport, Transport } from 'posthorn';

const reply = (address, more) => ({ address, outcome: 'accepted', code: 250, enhanced: null, text: 'ok', ...more });
const REPORT = { isUnreachable: false, isFinal: true, retryAfterMs: null };
const ACTS = {
  throw: () => { throw new Error('a bug, and a password: hunter2'); },
  nothing: () => undefined,
  never: () => new Promise(() => undefined),
  empty: () => ({ ...REPORT, replies: [] }),
  code: (to) => ({ ...REPORT, replies: to.map((address) => reply(address, { code: 'OK' })) }),
  outcome: (to) => ({ ...REPORT, replies: to.map((address) => reply(address, { outcome: 'sent' })) }),
  take: (to) => ({ ...REPORT, replies: to.splice(0).map((address) => reply(address, { outcome: 'no' })) }),
  half: (to) => ({ ...REPORT, replies: [reply(to[0])] }),
  huge: (to) => ({ ...REPORT, replies: to.map((address) => reply(address, { text: 'x'.repeat(3_000_000) + '\\0' })) }),
};

export class OddTransport extends NamedMailTransport {
  name = 'odd';
  get submitMsMax() { return 1_000; }
  async submit({ recipients }) { return ACTS[recipients[0].split('@')[0]](recipients); }
}

Transport()(OddTransport);

export default class OddModule {}
Module({ providers: [OddTransport] })(OddModule);
`;

describe('a misbehaving email transport', () => {
  let odd: InlineExtension;
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    odd = inlineExtension(ODD);
    ({ server, sql } = await startSending({ EXTENSIONS: odd.file, EMAIL_TRANSPORT: 'extension:odd' }));
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    odd?.remove();
  });

  it.each(['throw', 'nothing', 'never', 'empty', 'code', 'outcome', 'take'])(
    'loses no email: it is sent again later (%s)',
    async (act) => {
      const id = await sendEmail(server, { from: FROM, to: `${act}@one.example` });

      const email = await emailAfter(server, id, 1);

      expect(email.status).toBe('sending');
      expect(email.recipients[0].detail).toMatch(/^The email transport /);
      expect(JSON.stringify(email)).not.toContain('hunter2');
    },
  );

  it('keeps the valid replies of a report, and defers the other recipients', async () => {
    const id = await sendEmail(server, { from: FROM, to: ['half@one.example', 'b@one.example'] });

    const { recipients } = await emailAfter(server, id, 1);

    expect(recipients.map(({ status }: { status: string }) => status).sort()).toEqual(['delivered', 'sending']);
  });

  it('cuts a text of megabytes', async () => {
    const id = await sendEmail(server, { from: FROM, to: 'huge@one.example' });

    expect((await emailIn(server, id, 'delivered')).recipients[0].detail).toHaveLength(1024);
  });

  it('the service does not start with an unknown transport, and lists the known ones', async () => {
    const start = startServer({ ...server.env, EMAIL_TRANSPORT: 'extension:odder' });

    await expect(start).rejects.toThrow(
      /EMAIL_TRANSPORT=extension:odder names no loaded provider\. Known: .*direct:, extension:odd\./,
    );
  });

  it('the service does not start if two transports have the same name', async () => {
    const other = inlineExtension(ODD.replaceAll('OddModule', 'OtherModule'));

    const start = startServer({ ...server.env, EXTENSIONS: `${odd.file},${other.file}` }).finally(() => other.remove());

    await expect(start).rejects.toThrow(/There are two providers for EMAIL_TRANSPORT=extension:odd: .*Known: .*\./);
  });
});

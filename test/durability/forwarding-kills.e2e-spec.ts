import { simpleParser } from 'mailparser';
import { type DatabaseLink, openLink } from '../api/database-link.js';
import { aliasTo, deliver, letter, messageOf, messagesOf } from '../api/mailing.js';
import { until } from '../api/polling.js';
import { type Relay, type Relayed, startRelay } from '../api/relay.js';
import { openSql, type Sql } from '../api/scene.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer } from '../support/zone-server.js';
import { freePort } from './processes.js';
import { runSeed, Seeded } from './random.js';

const OWNER = 'owner@target.example';
/** If a process is killed while it sends a message, the relay gets a second copy. */
const COPIES_MAX = 2;
const WITHIN_MS = 90_000;

interface Letter {
  subject: string;
  sender: string;
  raw: string;
  isAccepted: boolean;
}

/** One kill -9 at each step from the 250 reply to a message until its forwarded copy and automatic reply are sent. */
describe('forwarding and automatic replies under kill -9, step by step', () => {
  const random = new Seeded(runSeed());
  const letters: Letter[] = [];
  let database: TestDatabase;
  let link: DatabaseLink;
  let relay: Relay;
  let zone: ZoneServer;
  let sql: Sql;
  let server: PosthornServer;
  let smtp: number;
  let alias: { id: string; address: string };
  /** Hook that the relay calls for each complete message. */
  let atMessage = (): void => undefined;

  beforeAll(async () => {
    [database, relay, zone, smtp] = await Promise.all([createDatabase(), startRelay(), startZoneServer(), freePort()]);
    link = await openLink(database.url);
    sql = openSql({ databaseUrl: database.url });
    relay.refuseMessages(() => {
      atMessage();
      return null;
    });
    server = await startServer({
      DATABASE_URL: link.url,
      SMTP_PORT: String(smtp),
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
      DNS_SERVERS: zone.address,
    });
    const reply = { subject: 'We got it', text: 'Thank you.', once_per: 'P7D' };
    alias = await aliasTo(server, [], { forward_to: [OWNER], auto_reply: reply });
    await confirm();
  });

  afterAll(async () => {
    await server?.kill('SIGKILL');
    await sql?.close();
    await link?.close();
    await Promise.all([relay?.close(), zone?.close()]);
    await database?.drop();
  });

  const moment = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const taken = (address: string, text: string): Relayed[] =>
    relay.taken.filter(({ to, raw }) => to.includes(address) && raw.includes(text));

  /** Confirms the forwarding, as the owner of the address does. */
  async function confirm(): Promise<void> {
    const [mail] = await until(
      async () => taken(OWNER, ''),
      ({ length }) => length > 0,
      WITHIN_MS,
    );
    const [, token = ''] = /\/forwarding\?token=(\S+)/.exec((await simpleParser(mail?.raw ?? '')).text ?? '') ?? [];
    const body = new URLSearchParams({ token: decodeURIComponent(token), decision: 'confirm' });
    expect((await fetch(`${server.url}/forwarding`, { method: 'POST', body })).status).toBe(200);
  }

  /** Sends a message to the alias. The process may die before it answers. */
  async function send(): Promise<void> {
    const subject = `letter-${letters.length}.`;
    const sent = { subject, sender: `ada-${letters.length}@b.example`, raw: '', isAccepted: false };
    sent.raw = letter(subject).replace('you@in.example', alias.address);
    letters.push(sent);
    sent.isAccepted = await deliver(smtp, alias.address, sent.raw, sent.sender).then(
      () => true,
      () => false,
    );
  }

  /** Kills the process after PostgreSQL has run a statement and before the process gets the response. */
  async function killedAfter(statement: string): Promise<void> {
    const runs = link.countRunsOf(statement);
    link.loseAnswerTo(statement);
    const sending = send();
    await until(
      async () => runs(),
      (count) => count > 0,
      20_000,
    );
    await moment(random.between(50, 150));
    await server.kill('SIGKILL');
    await sending;
  }

  /** Sends a message to the alias. Kills the process `afterMs` after the relay has got the nth resulting message. */
  async function killedAtRelay(nth: number, afterMs: number): Promise<void> {
    let seen = 0;
    const struck = new Promise<void>((resolve) => {
      atMessage = () => {
        seen += 1;
        if (seen === nth) setTimeout(() => resolve(server.kill('SIGKILL')), afterMs);
      };
    });
    await send();
    await struck;
    atMessage = () => undefined;
  }

  const STEPS: readonly [name: string, run: () => Promise<void>][] = [
    ['the message is claimed', () => killedAfter('inbox_claim')],
    ["the sender's period is claimed", () => killedAfter('auto_replies_claim')],
    ['the decision is stored', () => killedAfter('inbox_progress_of_days')],
    ['the first email is committed', () => killedAfter('emails_insert')],
    ['the relay has the first email, and has not answered', () => killedAtRelay(1, 0)],
    ['the relay has answered for the first email', () => killedAtRelay(1, random.between(1, 20))],
    ['the relay has the second email, and has not answered', () => killedAtRelay(2, 0)],
    ['the relay has answered for the second email', () => killedAtRelay(2, random.between(1, 20))],
    ...Array.from({ length: 4 }, (_, n): [string, () => Promise<void>] => [
      `a random moment, ${n}`,
      async () => {
        await send();
        await moment(random.between(0, 150));
        await server.kill('SIGKILL');
      },
    ]),
  ];

  it(
    `${STEPS.length} kills: every accepted message is forwarded and answered, a second copy has the same bytes, and there is one email of each`,
    async () => {
      for (const [name, run] of STEPS) {
        await run().catch((error: unknown) => {
          throw new Error(`${name}: ${String(error)}`, { cause: error });
        });
        link.restore();
        server = await startServer(server.env);
        // Expires the claims of the dead process, instead of waiting for their end.
        await sql.rows(`update inbox_messages set claimed_until = now() where claimed_by is not null`);
      }
      // The sender's mail server sends an unanswered message again.
      for (const { raw, sender } of letters.filter(({ isAccepted }) => !isAccepted))
        await deliver(smtp, alias.address, raw, sender);

      const listed = await messagesOf(server, alias.id, letters.length);
      expect(listed).toHaveLength(letters.length);
      for (const { id } of listed)
        await until(
          () => messageOf(server, alias.id, id),
          ({ forwards }) => forwards?.[0]?.status === 'delivered',
          WITHIN_MS,
        );
      let copies = 0;
      for (const { subject, sender } of letters) {
        const forwarded = taken(OWNER, `Subject: ${subject}\r\n`);
        const replies = await until(
          async () => taken(sender, 'Subject: We got it\r\n'),
          ({ length }) => length > 0,
          WITHIN_MS,
        );
        copies += forwarded.length + replies.length;
        for (const same of [forwarded, replies])
          expect([
            subject,
            same.length >= 1 && same.length <= COPIES_MAX,
            new Set(same.map(({ raw }) => raw)).size,
          ]).toEqual([subject, true, 1]);
      }
      expect(await sql.rows('select 1 from emails')).toHaveLength(2 * letters.length);
      process.stdout.write(
        `forwarding: ${STEPS.length} kills, ${letters.length} messages in, ${copies} copies and replies out (${copies - 2 * letters.length} of them twice, with the same bytes), lost 0\n`,
      );
    },
    60_000 + STEPS.length * 30_000,
  );
});

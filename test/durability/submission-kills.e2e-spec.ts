import { type DatabaseLink, openLink } from '../api/database-link.js';
import { emailOf } from '../api/emailing.js';
import { until } from '../api/polling.js';
import { type Relay, startRelay, verifyDomain } from '../api/relay.js';
import { openSql, type Sql } from '../api/scene.js';
import type { SmtpTalk } from '../api/smtp-client.js';
import { loggedIn, submissionPortOf } from '../api/submitting.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { runSeed, Seeded } from './random.js';

const FROM = 'shop@mail.example.com';
const LARGE_BYTES = 700_000;
const STORED = 'X-Stored: yes\r\n';
/**
 * Maximum number of copies of a message at the relay. If a process is killed while it sends a message, the relay gets a
 * second copy.
 */
const COPIES_MAX = 2;
/** Time limit for a repeated message, which waits for the dead process's lease on the idempotency key. */
const LEASE_WITHIN_MS = 60_000;

interface Letter {
  to: string;
  message: string;
  answer: string;
}

describe('submitted emails under kill -9, step by step', () => {
  const random = new Seeded(runSeed());
  const letters: Letter[] = [];
  let database: TestDatabase;
  let link: DatabaseLink;
  let relay: Relay;
  let sql: Sql;
  let server: PosthornServer;
  /** Recipient of the email whose stored signature the test has changed. */
  let marked = '';

  beforeAll(async () => {
    [database, relay] = await Promise.all([createDatabase(), startRelay()]);
    link = await openLink(database.url);
    sql = openSql({ databaseUrl: database.url });
    server = await startServer({
      DATABASE_URL: link.url,
      SMTP_PORT: 'off',
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
      LOG_LEVEL: 'info',
    });
    await verifyDomain(server, sql, 'mail.example.com');
  });

  afterAll(async () => {
    await server?.kill('SIGKILL');
    await sql?.close();
    await link?.close();
    await relay?.close();
    await database?.drop();
  });

  const moment = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  const session = async (): Promise<SmtpTalk> =>
    loggedIn(await submissionPortOf(server, 'without STARTTLS'), server.apiKey);

  /** Starts to submit a message, up to the reply to DATA. Each message has its own recipient and idempotency key. */
  async function begun(isLarge: boolean): Promise<{ talk: SmtpTalk; letter: Letter }> {
    const to = `r${letters.length}@x.example`;
    const head = [`From: ${FROM}`, `To: ${to}`, `Subject: ${to}`, `X-Idempotency-Key: ${to}`];
    const text = isLarge ? `${'x'.repeat(98)}\r\n`.repeat(LARGE_BYTES / 100) : 'Hello';
    const letter = { to, message: [...head, '', text].join('\r\n'), answer: 'none' };
    letters.push(letter);
    const talk = await session();
    for (const line of [`MAIL FROM:<${FROM}>`, `RCPT TO:<${to}>`]) expect(await talk.say(line)).toMatch(/^250/);
    expect(await talk.say('DATA')).toMatch(/^354/);
    return { talk, letter };
  }

  /** Submits a message or a part of it, and kills the process at the moment that `struck` chooses. */
  async function killed(
    { isLarge = false, isWhole = true },
    struck: (letter: Letter) => Promise<unknown>,
    before: () => void = () => undefined,
  ): Promise<void> {
    const { talk, letter } = await begun(isLarge);
    before();
    talk.write(isWhole ? `${letter.message}\r\n.\r\n` : letter.message.slice(0, letter.message.length / 2));
    await struck(letter);
    await server.kill('SIGKILL');
    letter.answer = await talk.answer();
    talk.close();
  }

  const stored = (query: string, to: string): Promise<unknown> =>
    until(
      () => sql.rows(query, [to]),
      ({ length }) => length > 0,
    );

  const STEPS: readonly [name: string, run: () => Promise<void>][] = [
    ['354 is sent', () => killed({ isWhole: false }, () => Promise.resolve())],
    ['half of a large message arrived', () => killed({ isLarge: true, isWhole: false }, () => moment(10))],
    [
      'the message arrived, and storage has not answered',
      () =>
        killed(
          {},
          () => moment(random.between(5, 30)),
          () => link.silence(),
        ),
    ],
    ['the message is being written', () => killed({}, () => moment(random.between(0, 8)))],
    ['a large message is being written', () => killed({ isLarge: true }, () => moment(random.between(0, 40)))],
    [
      'the email and its event are committed, and the process does not know',
      () =>
        killed(
          {},
          ({ to }) => stored('select 1 from events v join emails e on e.id = v.id where e.subject = $1', to),
          () => link.loseAnswerTo('ledger_accept_once'),
        ),
    ],
    [
      'the signature is committed, and the process does not know',
      () =>
        killed(
          {},
          async ({ to }) => {
            await stored(`select 1 from emails where subject = $1 and signature <> ''`, to);
            // A process that signs the message again would not send this field.
            await sql.rows(
              `update emails set signature = $2 || signature, size_bytes = size_bytes + octet_length($2) where subject = $1`,
              [to, STORED],
            );
            marked = to;
          },
          () => link.loseAnswerTo('emails_sign'),
        ),
    ],
    [
      '250 is sent',
      async () => {
        const { talk, letter } = await begun(false);
        talk.write(`${letter.message}\r\n.\r\n`);
        letter.answer = await talk.answer();
        await server.kill('SIGKILL');
        talk.close();
      },
    ],
  ];

  it(
    `${STEPS.length} kills: every message answered with 250 is delivered, and a client that repeats the others sends each email once`,
    async () => {
      for (const [name, run] of STEPS) {
        await run().catch((error: unknown) => {
          throw new Error(`${name}: ${String(error)}`, { cause: error });
        });
        link.restore();
        server = await startServer(server.env);
      }
      const taken = letters.filter(({ answer }) => answer.startsWith('250'));
      const cut = letters.filter(({ answer }) => !answer.startsWith('250'));
      expect([taken.length > 0, cut.length > 0]).toEqual([true, true]);
      for (const { answer } of cut) expect(answer).toMatch(/^(?:closed|4\d\d )/);

      for (const letter of cut)
        letter.answer = await until(
          async () => {
            const talk = await session();
            const answer = await talk.send(letter.to, letter.message, FROM);
            talk.close();
            return answer;
          },
          (answer) => answer.startsWith('250'),
          LEASE_WITHIN_MS,
        );

      for (const { to, answer } of letters) {
        const email = await until(
          () => emailOf(server, answer.slice('250 2.0.0 '.length)),
          ({ status }) => status === 'delivered',
          60_000,
        );
        const copies = relay.taken.filter((one) => one.to[0] === to);
        expect([email.subject, copies.length >= 1 && copies.length <= COPIES_MAX]).toEqual([to, true]);
        expect(new Set(copies.map(({ raw }) => raw)).size).toBe(1);
        expect(copies[0]?.raw.startsWith(STORED)).toBe(to === marked);
      }
      const events = await sql.rows(`select 1 from events where event_type = 'email.send'`);
      expect(events).toHaveLength(letters.length);
    },
    60_000 + STEPS.length * 40_000,
  );
});

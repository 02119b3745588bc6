import { type DatabaseLink, openLink } from '../api/database-link.js';
import { emailOf } from '../api/emailing.js';
import { aliasTo } from '../api/mailing.js';
import { until } from '../api/polling.js';
import { type Relay, startRelay, verifyDomain } from '../api/relay.js';
import {
  destinationAt,
  expectStatus,
  openSql,
  type Sql,
  startTargets,
  type TargetPath,
  type Targets,
  uuidOf,
} from '../api/scene.js';
import { mailText, SmtpTalk } from '../api/smtp-client.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { freePort } from './processes.js';
import { runSeed, Seeded, setting } from './random.js';

const FROM = 'shop@mail.example.com';
const LARGE_BYTES = 700_000;
/** If a process is killed while it sends a message, the relay gets a second copy. */
const COPIES_MAX = 2;

/**
 * SQL that blocks writes to the table of messages for up to 60 s. The blobs of large messages are in another table,
 * which is not blocked.
 */
const HOLD = 'do $$ begin lock table inbox_messages in exclusive mode; perform pg_sleep(60); end $$';

interface Letter {
  subject: string;
  text: string;
  answer: string;
}
interface Email {
  id: string;
  to: string;
}

/**
 * Kills a process with kill -9 at each step of receiving and of sending mail. The test blocks the connection at the
 * step, so that the kill always hits it. DURABILITY_KILLS=40 repeats the steps.
 */
describe('mail under kill -9, step by step', () => {
  const random = new Seeded(runSeed());
  const letters: Letter[] = [];
  const emails: Email[] = [];
  let database: TestDatabase;
  let link: DatabaseLink;
  let relay: Relay;
  let targets: Targets;
  let target: TargetPath;
  let sql: Sql;
  let server: PosthornServer;
  let smtp: number;
  let alias: { id: string; address: string };
  /** Hooks that the relay calls after a recipient, and after a complete message. */
  let atRecipient = (): void => undefined;
  let atMessage = (): void => undefined;

  beforeAll(async () => {
    [database, relay, targets, smtp] = await Promise.all([createDatabase(), startRelay(), startTargets(), freePort()]);
    link = await openLink(database.url);
    sql = openSql({ databaseUrl: database.url });
    relay.refuseRecipients(() => {
      atRecipient();
      return null;
    });
    relay.refuseMessages(() => {
      atMessage();
      return null;
    });
    server = await startServer({
      DATABASE_URL: link.url,
      SMTP_PORT: String(smtp),
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
    });
    await verifyDomain(server, sql, 'mail.example.com');
    target = targets.open();
    alias = await aliasTo(server, [await destinationAt(server, target.url)]);
  });

  afterAll(async () => {
    await server?.kill('SIGKILL');
    await sql?.close();
    await link?.close();
    await Promise.all([relay?.close(), targets?.close()]);
    await database?.drop();
  });

  const kill = (): Promise<void> => server.kill('SIGKILL');

  /**
   * Opens an SMTP session up to the point at which the server expects the message. Returns the session and the message.
   */
  async function begun(isLarge: boolean): Promise<{ talk: SmtpTalk; letter: Letter }> {
    const subject = `letter-${letters.length}`;
    const letter = {
      subject,
      text: `${mailText(subject)}${isLarge ? `\r\n${'x'.repeat(LARGE_BYTES)}` : ''}`,
      answer: 'none',
    };
    letters.push(letter);
    const talk = await SmtpTalk.greeted(smtp);
    for (const line of ['MAIL FROM:<sender@example.org>', `RCPT TO:<${alias.address}>`])
      expect(await talk.say(line)).toMatch(/^250/);
    expect(await talk.say('DATA')).toMatch(/^354/);
    return { talk, letter };
  }

  async function received(
    isLarge: boolean,
    whole: boolean,
    hold: () => void,
    killed: () => Promise<unknown>,
  ): Promise<void> {
    const { talk, letter } = await begun(isLarge);
    hold();
    talk.write(whole ? `${letter.text}\r\n.\r\n` : letter.text.slice(0, letter.text.length / 2));
    await killed();
    await kill();
    letter.answer = await talk.answer();
    talk.close();
  }

  async function accepted(fields: object = {}): Promise<Email> {
    const to = `r${emails.length}@x.example`;
    const { id } = expectStatus(
      await server.api('POST', '/v1/emails', { from: FROM, to, subject: to, text: 'Hello', ...fields }),
      202,
    ).json as { id: string };
    const email = { id, to };
    emails.push(email);
    return email;
  }

  /** Kills the process at the moment when the relay receives the chosen part of an email. */
  async function sending(on: (strike: () => void) => void): Promise<void> {
    const struck = new Promise<void>((resolve) => on(() => resolve(kill())));
    await accepted();
    await struck;
    [atRecipient, atMessage] = [() => undefined, () => undefined];
  }

  const moment = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const stored = async (text: string): Promise<unknown> =>
    until(
      async () => (await sql.rows(text)).length,
      (count) => count > 0,
      10_000,
    );
  const rowOfLast = (): string =>
    `select 1 from inbox_messages where encode(substring(raw from 1 for 400), 'escape') like '%Subject: ${letters.at(-1)?.subject}%'`;
  let blobs = 0;
  const blobCount = async (): Promise<number> =>
    (await sql.rows<{ count: number }>('select count(distinct id)::int as count from blob_chunks'))[0]?.count ?? 0;

  const STEPS: readonly [name: string, run: () => Promise<void>][] = [
    [
      '354 is said',
      () =>
        received(
          false,
          false,
          () => undefined,
          () => Promise.resolve(),
        ),
    ],
    [
      'half of a message is there',
      () =>
        received(
          false,
          false,
          () => undefined,
          () => moment(random.between(1, 20)),
        ),
    ],
    [
      'half of a large one is there',
      () =>
        received(
          true,
          false,
          () => undefined,
          () => moment(random.between(1, 20)),
        ),
    ],
    [
      'all of it is there, and storage has not been asked',
      () =>
        received(
          false,
          true,
          () => link.silence(),
          () => moment(random.between(5, 30)),
        ),
    ],
    [
      'it is being written',
      () =>
        received(
          false,
          true,
          () => undefined,
          () => moment(random.between(0, 5)),
        ),
    ],
    [
      'a large one is being written',
      () =>
        received(
          true,
          true,
          () => undefined,
          () => moment(random.between(0, 15)),
        ),
    ],
    [
      'the bytes of a large one are committed, and its row is not',
      async () => {
        blobs = await blobCount();
        const held = sql.rows(HOLD).catch(() => undefined);
        await until(
          () =>
            sql.rows(
              `select 1 from pg_locks where relation = 'inbox_messages'::regclass and mode = 'ExclusiveLock' and granted`,
            ),
          ({ length }) => length > 0,
          10_000,
        );
        await received(
          true,
          true,
          () => undefined,
          () => until(blobCount, (count) => count > blobs, 10_000),
        );
        await sql.rows(
          `select pg_cancel_backend(pid) from pg_stat_activity where query = $1 and datname = current_database()`,
          [HOLD],
        );
        await held;
      },
    ],
    [
      'it is committed, and the process does not know',
      () =>
        received(
          false,
          true,
          () => link.loseAnswerTo('inbox_accept'),
          () => stored(rowOfLast()),
        ),
    ],
    [
      '250 is said',
      async () => {
        const { talk, letter } = await begun(false);
        talk.write(`${letter.text}\r\n.\r\n`);
        letter.answer = await talk.answer();
        await kill();
        talk.close();
      },
    ],
    [
      '202 is said',
      async () => {
        await accepted();
        await kill();
      },
    ],
    [
      '202 is said to one that is due in a moment',
      async () => {
        await accepted({ scheduled_at: new Date(Date.now() + 500).toISOString() });
        await moment(random.between(400, 900));
        await kill();
      },
    ],
    ['the relay is told the recipient', () => sending((strike) => (atRecipient = strike))],
    ['the relay has all of it, and has not answered', () => sending((strike) => (atMessage = strike))],
    [
      'the relay has answered, and nothing is written down',
      () =>
        sending(
          (strike) =>
            (atMessage = () => {
              link.silence();
              setTimeout(strike, random.between(5, 50));
            }),
        ),
    ],
    [
      'the relay has answered, and it is being written down',
      () => sending((strike) => (atMessage = () => void setTimeout(strike, random.between(0, 15)))),
    ],
  ];
  const kills = setting('DURABILITY_KILLS', STEPS.length);

  it(
    `${kills} kills: every message answered with 250 or 202 exists completely and once, and no other message exists in part`,
    async () => {
      for (let n = 0; n < kills; n += 1) {
        const [name, run] = STEPS[n % STEPS.length] as (typeof STEPS)[number];
        await run().catch((error: unknown) => {
          throw new Error(`Kill ${n}, ${name}: ${String(error)}`, { cause: error });
        });
        link.restore();
        server = await startServer(server.env);
      }
      // Expires the claims of dead processes, instead of waiting for their end.
      await sql.rows(
        `update inbox_messages set claimed_until = now() where state = 'received' and claimed_by is not null`,
      );
      const cut = letters.filter(({ answer }) => !answer.startsWith('250'));
      expect(cut.length).toBeGreaterThan(0);
      for (const { answer } of cut) expect(answer).toMatch(/^(?:closed|4\d\d )/);

      type Row = { subject: string; is_whole: boolean };
      const rows = (): Promise<Row[]> =>
        sql.rows<Row>(
          `
      select substring(encode(substring(whole from 1 for 400), 'escape') from 'Subject: ([-a-z0-9]+)') as subject, sha256(whole) = sha256 and length(whole) = size_bytes as is_whole
      from inbox_messages m cross join lateral (
        select coalesce(m.raw, (select string_agg(content, ''::bytea order by ordinal) from blob_chunks c where c.environment_id = m.environment_id and c.id = m.id)) as whole) w
      where alias_id = $1`,
          [uuidOf(alias.id)],
        );
      const before = await rows();
      const taken = letters.filter(({ answer }) => answer.startsWith('250'));
      expect(taken.filter(({ subject }) => !before.some((row) => row.subject === subject))).toEqual([]);
      expect(before.filter(({ is_whole: isWhole }) => !isWhole)).toEqual([]);
      // A message without a reply is stored fully or not at all.
      expect(before.map(({ subject }) => subject).filter((subject, i, all) => all.indexOf(subject) !== i)).toEqual([]);

      // Clients send unanswered messages again and get 250. Then each message exists once.
      const talk = await SmtpTalk.greeted(smtp);
      for (const { text } of cut) expect(await talk.send(alias.address, text)).toMatch(/^250/);
      talk.close();
      const subjects = letters.map(({ subject }) => subject).sort();
      expect((await rows()).map(({ subject, is_whole: isWhole }) => [subject, isWhole]).sort()).toEqual(
        subjects.map((subject) => [subject, true]).sort(),
      );
      await until(
        async () => new Set(target.posts().map(({ headers }) => headers['webhook-id'])).size,
        (count) => count >= letters.length,
        60_000,
      );
      const told = new Map(
        target
          .posts()
          .map(({ headers, rawBody }) => [
            headers['webhook-id'],
            (JSON.parse(rawBody.toString()) as { subject: string }).subject,
          ]),
      );
      expect([...told.values()].sort()).toEqual(subjects);
      expect((await sql.rows(`select 1 from events where event_type = 'email.received'`)).length).toBe(letters.length);

      for (const { id, to } of emails) {
        const email = await until(
          () => emailOf(server, id),
          ({ status }) => status === 'delivered',
          60_000,
        );
        const copies = relay.taken.filter((one) => one.to[0] === to);
        expect([
          to,
          email.status,
          copies.length >= 1 && copies.length <= COPIES_MAX,
          new Set(copies.map(({ raw }) => raw)).size,
        ]).toEqual([to, 'delivered', true, 1]);
      }
      expect(relay.taken.filter(({ to }) => !emails.some((email) => email.to === to[0]))).toEqual([]);
      expect(await sql.rows('select 1 from scheduled_emails')).toEqual([]);
      const repeated = relay.taken.length - emails.length;
      process.stdout.write(
        `mail: ${kills} kills, ${letters.length} messages in (${taken.length} answered 250, ${cut.length} cut and sent again), ${emails.length} emails out (${repeated} of them twice, with the same bytes), lost 0, half there 0\n`,
      );
    },
    60_000 + kills * 20_000,
  );
});

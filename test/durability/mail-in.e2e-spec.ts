import { readFileSync, writeFileSync } from 'node:fs';
import { openSql, type Sql, uuidOf } from '../api/scene.js';
import { createAlias, mailText, sendMail, smtpPortOf, SmtpTalk } from '../api/smtp-client.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { setting } from './random.js';

const KILLS = setting('DURABILITY_KILLS', 6);
const CONNECTIONS = 6;
const LARGE_BYTES = 700_000;
const MB = 1024 * 1024;

describe('mail that was answered with 250', () => {
  let server: PosthornServer;
  let sql: Sql;
  let alias: { id: string; address: string };

  beforeAll(async () => {
    server = await startServer({ LOG_LEVEL: 'info' });
    sql = openSql(server);
    alias = await createAlias(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
  });

  /** Sends messages until the connection is closed. Records the started messages and the answered messages. */
  async function send(
    port: number,
    round: number,
    sender: number,
    begun: Set<string>,
    taken: Set<string>,
    answered: () => void,
  ): Promise<void> {
    const talk = await SmtpTalk.open(port);
    if (!(await talk.answer()).startsWith('220')) return;
    await talk.say('EHLO client.example');
    for (let i = 0; ; i += 1) {
      const subject = `kill-${round}-${sender}-${i}`;
      begun.add(subject);
      const isLarge = (i + sender) % 5 === 4;
      const answer = await talk.send(
        alias.address,
        `${mailText(subject)}${isLarge ? `\r\n${'x'.repeat(LARGE_BYTES)}` : ''}`,
      );
      if (answer === 'closed') return;
      if (!answer.startsWith('250')) continue;
      taken.add(subject);
      answered();
    }
  }

  it(`is stored completely and once after ${KILLS} kills -9 between DATA and the answer, and no other message is stored in part`, async () => {
    const begun = new Set<string>();
    const taken = new Set<string>();
    for (let round = 0; round < KILLS; round += 1) {
      const edge = await startServer({ ...server.env, ROLE: 'smtp' });
      let answers = 0;
      const kills: Promise<void>[] = [];
      // Kills the process while messages are in flight, after a different number of answers in each round.
      const answered = (): void => {
        answers += 1;
        if (answers >= 4 + round * 3 && kills.length === 0) kills.push(edge.kill('SIGKILL'));
      };
      const port = smtpPortOf(edge);
      await Promise.all(
        Array.from({ length: CONNECTIONS }, (_none, sender) => send(port, round, sender, begun, taken, answered)),
      );
      await Promise.all(kills);
    }

    const rows = await sql.rows<{ subject: string; is_whole: boolean }>(
      `
      select substring(encode(substring(whole from 1 for 400), 'escape') from 'Subject: ([-a-z0-9]+)') as subject, sha256(whole) = sha256 and length(whole) = size_bytes as is_whole
      from inbox_messages m cross join lateral (
        select coalesce(m.raw, (select string_agg(content, ''::bytea order by ordinal) from blob_chunks c where c.environment_id = m.environment_id and c.id = m.id)) as whole) w
      where alias_id = $1`,
      [uuidOf(alias.id)],
    );
    const kept = rows.map(({ subject }) => subject);
    expect(taken.size).toBeGreaterThan(KILLS * 4);
    expect(begun.size).toBeGreaterThan(taken.size);
    expect([...taken].filter((subject) => !kept.includes(subject))).toEqual([]);
    expect(kept.filter((subject, i) => kept.indexOf(subject) !== i)).toEqual([]);
    expect(kept.filter((subject) => !begun.has(subject))).toEqual([]);
    expect(rows.filter(({ is_whole: isWhole }) => !isWhole)).toEqual([]);
  }, 300_000);

  it('eight messages of 25 MB at once are stored with constant memory', async () => {
    // With ROLE=smtp, the process receives mail but does not parse it, so parsing does not affect the measured memory.
    const edge = await startServer({ ...server.env, ROLE: 'smtp' });
    const port = smtpPortOf(edge);
    const body = `${'x'.repeat(998)}\r\n`.repeat(25_000);
    const residentBytes = (field: string): number =>
      Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${edge.pid}/status`, 'utf8'))?.[1]) * 1024;
    const large = await createAlias(server);
    await sendMail(port, large.address, `${mailText()}\r\n${body}`);
    const before = residentBytes('VmRSS');
    // Resets VmHWM, the peak resident memory.
    writeFileSync(`/proc/${edge.pid}/clear_refs`, '5');

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => sendMail(port, large.address, `${mailText()}\r\n${body}`)),
    );
    const grownMb = (residentBytes('VmHWM') - before) / MB;
    await edge.stop();
    expect(answers.filter((answer) => answer.startsWith('250 2.6.0 Accepted as'))).toHaveLength(8);
    expect(grownMb).toBeLessThan(200);
    const [row] = await sql.rows<{ messages: number; bytes: number }>(
      'select count(distinct c.id)::int as messages, sum(length(content))::int as bytes from blob_chunks c join inbox_messages m on m.id = c.id where m.alias_id = $1',
      [uuidOf(large.id)],
    );
    expect(row?.messages).toBe(9);
    expect(row?.bytes).toBeGreaterThan(9 * 25_000_000);
  });
});

import { freePort } from '../durability/processes.js';
import { isPostfixInstalled, Postfix } from '../support/postfix.js';
import { run } from '../support/program.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import { emailAfter, emailIn, emailOf, sendEmail } from './emailing.js';
import { deliver } from './mailing.js';
import { until } from './polling.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import { abuseReport, deliveryReport, openReportDoor, type ReportDoor } from './reporting.js';
import type { Sql } from './scene.js';
import { eventIn, expectStatus, makeDue, openSql, uuidOf, WITHIN_MS } from './scene.js';
import { SmtpTalk } from './smtp-client.js';

const FROM = 'Shop <shop@mail.example.com>';
/** Valid counts of a system event that was recorded once. The count becomes null when the event is sent. */
const SIGNALLED_ONCE = ['1', null];

interface Report {
  id: string;
  email_id: string | null;
  kind: string | null;
  state: string;
  reason: string | null;
  received_from: string;
  size_bytes: number;
}

describe('reports about emails', () => {
  let server: PosthornServer;
  let relay: Relay;
  let sql: Sql;
  let door: ReportDoor;
  let readKey: string;
  let testKey: string;
  let smtpPort: number;

  beforeAll(async () => {
    relay = await startRelay();
    smtpPort = await freePort();
    server = await startServer({
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
      SMTP_PORT: String(smtpPort),
    });
    sql = openSql(server);
    door = await openReportDoor(server);
    await verifyDomain(server, sql, 'mail.example.com');
    readKey = (await createKey(server, { scope: 'read' })).key;
    testKey = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
  });

  afterAll(async () => {
    await door?.close();
    await sql?.close();
    await server?.stop();
    await relay?.close();
  });

  let subjects = 0;
  /** Sends an email that the relay accepts. Returns its id, its raw message and its return path. */
  async function delivered(to: string | string[]): Promise<{ id: string; raw: string; from: string }> {
    const subject = `report ${(subjects += 1)}`;
    const id = await sendEmail(server, { from: FROM, to, subject });
    await emailIn(server, id, 'delivered');
    const { raw, from } = relay.taken.find((taken) => taken.raw.includes(`Subject: ${subject}\r\n`)) ?? {
      raw: '',
      from: '',
    };
    return { id, raw, from };
  }

  const reports = async (query = ''): Promise<Report[]> =>
    expectStatus(await server.api('GET', `/v1/reports?limit=100${query}`), 200).json.data as Report[];
  /** Waits until all reports about an email are processed, and returns them. */
  const reportsOf = (id: string, count = 1): Promise<Report[]> =>
    until(
      async () => (await reports()).filter(({ email_id: email }) => email === id),
      (found) => found.length === count && found.every(({ state }) => state !== 'waiting'),
      WITHIN_MS,
    );
  const isSuppressed = async (address: string): Promise<boolean> =>
    (await server.api('GET', `/v1/suppressions/${address}`)).status === 200;
  const signals = (id: string, type: string) =>
    sql.rows<{ count: string }>(
      'select sum(count)::text as count from system_signals where type = $1 and subject = $2',
      [type, uuidOf(id)],
    );

  it('a late bounce appears in the recipient, the email, its event, the suppression and the system event', async () => {
    const { id, from } = await delivered(['gone@late.example', 'there@late.example']);

    await door.toReturnPath(from, deliveryReport({ recipient: 'Gone@LATE.example' }));

    const email = await emailIn(server, id, 'bounced');
    expect(email.recipients.map(({ status }: { status: string }) => status)).toEqual(['bounced', 'delivered']);
    expect(email.timeline.at(-1)).toMatchObject({
      type: 'bounced',
      subtype: '5.1.1',
      recipient: 'gone@late.example',
      detail: expect.stringContaining('User unknown'),
    });
    await eventIn(server, id, 'failed');
    expect(expectStatus(await server.api('GET', '/v1/suppressions/gone@late.example'), 200).json).toMatchObject({
      origin: 'bounce',
      source_id: id,
    });
    expect(await isSuppressed('there@late.example')).toBe(false);
    expect(SIGNALLED_ONCE).toContain((await signals(id, 'email.bounced'))[0]?.count);
    expect(await reportsOf(id)).toMatchObject([
      { state: 'recorded', kind: 'bounce', reason: null, received_from: '192.0.2.25' },
    ]);
  });

  it('a delay appears in the timeline and changes nothing; a full mailbox counts as bounced, and suppresses no address', async () => {
    const { id, from } = await delivered('full@later.example');
    await door.toReturnPath(
      from,
      deliveryReport({
        recipient: 'full@later.example',
        action: 'delayed',
        status: '4.4.1',
        diagnostic: 'smtp; 451 4.4.1 No answer',
      }),
    );
    await reportsOf(id);

    const late = await emailOf(server, id);
    expect([late.status, late.timeline.at(-1)]).toMatchObject([
      'delivered',
      { type: 'sent', subtype: 'delayed', recipient: 'full@later.example' },
    ]);
    await door.toReturnPath(
      from,
      deliveryReport({ recipient: 'full@later.example', status: '5.2.2', diagnostic: 'smtp; 552 5.2.2 Mailbox full' }),
    );
    await emailIn(server, id, 'bounced');
    expect(await isSuppressed('full@later.example')).toBe(false);
  });

  it('a repeated report counts once, also if it is processed again after a crash', async () => {
    const { id, from } = await delivered('twice@once.example');
    const report = deliveryReport({ recipient: 'twice@once.example' });

    await Promise.all([door.toReturnPath(from, report), door.toReturnPath(from, report)]);
    await door.toReturnPath(from, report);

    const before = await emailIn(server, id, 'bounced');
    expect(await reportsOf(id)).toHaveLength(1);
    // Simulates a crash after the effects of the report were stored and before the report was marked as processed.
    await sql.rows(`update mail_reports set state = 'waiting', kind = null, due_at = now() where email_id = $1`, [
      uuidOf(id),
    ]);
    expect(await reportsOf(id)).toMatchObject([{ state: 'recorded' }]);
    expect(await emailOf(server, id)).toEqual(before);
    expect(SIGNALLED_ONCE).toContain((await signals(id, 'email.bounced'))[0]?.count);
  });

  it('over SMTP: repeated reports of an old bounce do not restore a removed suppression; the bounce of a new email does', async () => {
    const first = await delivered('mended@once.example');
    const bounce = deliveryReport({ recipient: 'mended@once.example' });
    await deliver(smtpPort, first.from, bounce, '');
    await emailIn(server, first.id, 'bounced');
    await reportsOf(first.id);
    expectStatus(await server.api('DELETE', '/v1/suppressions/mended@once.example'), 204);
    const before = await emailOf(server, first.id);

    await deliver(smtpPort, first.from, `X-Changed: 1\r\n${bounce}`, '');
    await deliver(
      smtpPort,
      first.from,
      deliveryReport({ recipient: 'mended@once.example', diagnostic: 'smtp; 550 5.1.1 In other words: no such user' }),
      '',
    );

    expect((await reportsOf(first.id, 3)).map(({ state }) => state)).toEqual(['recorded', 'recorded', 'recorded']);
    expect([await isSuppressed('mended@once.example'), await emailOf(server, first.id)]).toEqual([false, before]);
    expect(SIGNALLED_ONCE).toContain((await signals(first.id, 'email.bounced'))[0]?.count);
    const second = await delivered('mended@once.example');
    await deliver(smtpPort, second.from, bounce, '');
    await emailIn(server, second.id, 'bounced');
    expect(await isSuppressed('mended@once.example')).toBe(true);
  });

  it('over SMTP: a report to a return path cannot concern a recipient of another envelope', async () => {
    const [late, prompt] = ['late@two.example', 'prompt@two.example'];
    relay.refuseRecipients((address) => (address === late ? { code: 451, text: '4.7.1 Later' } : null));
    const id = await sendEmail(server, { from: FROM, to: [late, prompt], subject: 'two envelopes' });
    await emailAfter(server, id, 1);
    relay.refuseRecipients(() => null);
    await makeDue(sql, id);
    await emailIn(server, id, 'delivered');
    const [shared = '', own = ''] = relay.taken
      .filter(({ raw }) => raw.includes('Subject: two envelopes\r\n'))
      .map(({ from }) => from);
    const raw = relay.taken.find(({ from }) => from === own)?.raw ?? '';

    expect(own).not.toBe(shared);
    await deliver(smtpPort, own, deliveryReport({ recipient: prompt }), '');
    expect(await reportsOf(id)).toMatchObject([{ state: 'untrusted', reason: 'not_proven' }]);
    await door.toOperator(
      abuseReport(raw).replace('User-Agent: FBL/1.0', `User-Agent: FBL/1.0\r\nOriginal-Rcpt-To: <${prompt}>`),
    );
    expect((await reportsOf(id, 2)).map(({ state }) => state)).toEqual(['untrusted', 'untrusted']);
    expect([(await emailOf(server, id)).status, await isSuppressed(prompt)]).toEqual(['delivered', false]);
    await deliver(smtpPort, own, deliveryReport({ recipient: late }), '');
    await emailIn(server, id, 'bounced');
    expect([await isSuppressed(late), await isSuppressed(prompt)]).toEqual([true, false]);
  });

  it('a complaint at an address of the operator counts because of the DKIM signature in the quoted message', async () => {
    const { id, raw } = await delivered('angry@complains.example');

    await door.toOperator(abuseReport(raw));

    await emailIn(server, id, 'complained');
    expect(expectStatus(await server.api('GET', '/v1/suppressions/angry@complains.example'), 200).json).toMatchObject({
      origin: 'complaint',
      source_id: id,
    });
    expect(SIGNALLED_ONCE).toContain((await signals(id, 'email.complained'))[0]?.count);
    expect(await reportsOf(id)).toMatchObject([{ kind: 'complaint', state: 'recorded' }]);
  });

  it('forged: a known Message-ID alone suppresses no address; the report is stored and shown', async () => {
    const { id, raw } = await delivered('victim@forged.example');
    const messageId = /^Message-ID: .*$/im.exec(raw)?.[0] ?? '';
    const forgedPath = `Return-Path: <b+${'00000001'.padEnd(56, 'a')}@bounce.posthorn.example>`;

    await door.toOperator(
      deliveryReport({
        recipient: 'victim@forged.example',
        returned: `${forgedPath}\r\n${messageId}\r\nDKIM-Signature: v=1; b=Zm9yZ2Vk\r\n`,
      }),
    );
    await door.toOperator(abuseReport(`${messageId}\r\nTo: victim@forged.example\r\n\r\nHello`));

    expect((await reportsOf(id, 2)).map(({ kind, state, reason }) => [kind, state, reason]).sort()).toEqual([
      ['bounce', 'untrusted', 'not_proven'],
      ['complaint', 'untrusted', 'not_proven'],
    ]);
    expect([(await emailOf(server, id)).status, await isSuppressed('victim@forged.example')]).toEqual([
      'delivered',
      false,
    ]);
  });

  it('a report about an address that did not get the email is stored, without effect', async () => {
    const { id, from } = await delivered('forwards@here.example');

    await door.toReturnPath(from, deliveryReport({ recipient: 'elsewhere@there.example' }));

    expect(await reportsOf(id)).toMatchObject([{ state: 'unmatched', reason: 'recipient_unknown' }]);
    expect([(await emailOf(server, id)).status, await isSuppressed('elsewhere@there.example')]).toEqual([
      'delivered',
      false,
    ]);
  });

  it('an automatic reply to the return path changes nothing', async () => {
    const { id, from } = await delivered('away@holiday.example');

    await door.toReturnPath(
      from,
      'From: away@holiday.example\r\nSubject: Undeliverable: out of office\r\nAuto-Submitted: auto-replied\r\n\r\nI am away. Your message was not delivered to me:\r\naway@holiday.example\r\n',
    );

    expect(await reportsOf(id)).toMatchObject([{ kind: 'auto-reply', state: 'ignored', reason: 'auto_reply' }]);
    expect((await emailOf(server, id)).status).toBe('delivered');
  });

  it('a report that matches no email is visible to the operator only: the command lists it, and prints it unchanged', async () => {
    const stranger = deliveryReport({
      recipient: 'nobody@unknown.example',
      returned: 'Message-ID: <somebody@else.example>\r\n',
    });
    await door.toOperator(stranger);
    const [{ id = '' } = {}] = await until(
      () =>
        sql.rows<{ id: string }>(
          `select id::text from mail_reports where state = 'unmatched' and environment_id is null`,
        ),
      (rows) => rows.length > 0,
      WITHIN_MS,
    );

    const listed = await run('mail-reports', server.env, [], 'files');
    const shown =
      /^(rep_\w+) {2}\S+ {2}smtp {2}unmatched {2}email_unknown {2}bounce {2}- {2}abuse@posthorn\.example {2}192\.0\.2\.25 /m.exec(
        listed.out,
      )?.[1] ?? '';
    const printed = await run('mail-reports', server.env, ['--raw', shown]);

    expect([listed.code, uuidOf(shown), printed.code, printed.out]).toEqual([0, id, 0, stranger]);
    expect((await run('mail-reports', server.env, ['--raw', 'x'])).code).toBe(1);
    expectRefusal(await server.api('GET', `/v1/reports/${shown}`), 404);
    expect((await reports()).map((report) => report.id)).not.toContain(shown);
    const metrics = await server.api('GET', '/metrics');
    expect(metrics.text).toMatch(/^posthorn_mail_reports_settled_total\{source="smtp",state="unmatched"\} [1-9]/m);
  });

  it('200: one report and its bytes; 403 below admin, 404 in another environment, 400 for a cursor of another list', async () => {
    const { id, from } = await delivered('shown@report.example');
    const sent = deliveryReport({ recipient: 'shown@report.example' });
    await door.toReturnPath(from, sent);
    const [report] = await reportsOf(id);

    const raw = expectStatus(await server.api('GET', `/v1/reports/${report?.id}/raw`), 200);
    expect([raw.text, raw.headers.get('content-type'), raw.headers.get('content-disposition')]).toEqual([
      sent,
      'message/rfc822',
      'attachment; filename="report.eml"',
    ]);
    expect(expectStatus(await server.api('GET', `/v1/reports/${report?.id}`), 200).json).toEqual(report);
    expect((await reports('&state=untrusted')).every(({ state }) => state === 'untrusted')).toBe(true);
    const page = expectStatus(await server.api('GET', '/v1/reports?limit=1'), 200).json;
    expect([page.data.length, typeof page.next_cursor]).toEqual([1, 'string']);
    expectRefusal(await server.api('GET', `/v1/suppressions?cursor=${page.next_cursor}`), 400);
    for (const path of ['', `/${report?.id}`, `/${report?.id}/raw`])
      expectRefusal(await server.api('GET', `/v1/reports${path}`, undefined, as(readKey)), 403);
    for (const path of [`/${report?.id}`, `/${report?.id}/raw`])
      expectRefusal(await server.api('GET', `/v1/reports${path}`, undefined, as(testKey)), 404);
    expectRefusal(await server.api('GET', '/v1/reports/rep_x'), 404);
  });

  it("erasing an email's payload deletes the reports that quote it", async () => {
    const { id, from } = await delivered('erased@report.example');
    await door.toReturnPath(from, deliveryReport({ recipient: 'erased@report.example' }));
    await reportsOf(id);

    expectStatus(await server.api('DELETE', `/v1/events/${id}/payload`), 204);

    await until(
      () => sql.rows('select 1 from mail_reports where email_id = $1', [uuidOf(id)]),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
  });

  /** Calls `act` for the numbers below `count`, ten at a time. */
  async function repeat(count: number, act: (n: number) => Promise<unknown>): Promise<void> {
    for (let n = 0; n < count; n += 10) await Promise.all(Array.from({ length: 10 }, (_, more) => act(n + more)));
  }
  const statesOf = (id: string) =>
    sql.rows<{ state: string; count: number }>(
      'select state, count(*)::int as count from mail_reports where email_id = $1 group by 1 order by 1',
      [uuidOf(id)],
    );

  it('at most a hundred reports per email are kept, so that its return path cannot fill the database', async () => {
    const { id, from } = await delivered('flood@report.example');

    // Posthorn rejects a report while a hundred are waiting.
    await repeat(130, (n) =>
      until(
        () =>
          door.toReturnPath(from, deliveryReport({ recipient: `stranger-${n}@report.example` })).then(
            () => true,
            () => false,
          ),
        (isTaken) => isTaken,
        WITHIN_MS,
      ),
    );

    await until(
      () => statesOf(id),
      ([unmatched, ...others]) => unmatched?.count === 100 && others.length === 0,
      WITHIN_MS,
    );
  });

  it('forged: reports that quote a Message-ID do not prevent a genuine bounce of the same email; the newest are kept', async () => {
    const { id, raw, from } = await delivered('victim@crowd.example');
    const messageId = /^Message-ID: .*$/im.exec(raw)?.[0] ?? '';

    await repeat(120, (n) =>
      door.toOperator(
        deliveryReport({ recipient: 'victim@crowd.example', status: `5.1.${n}`, returned: `${messageId}\r\n` }),
      ),
    );
    await repeat(10, (n) =>
      door.toOperator(
        `Subject: away ${n}\r\nAuto-Submitted: auto-replied\r\n${messageId.replace('Message-ID', 'In-Reply-To')}\r\n\r\nAway.`,
      ),
    );
    await until(
      () => sql.rows(`select 1 from mail_reports where state = 'waiting'`),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
    await door.toReturnPath(from, deliveryReport({ recipient: 'victim@crowd.example' }));

    await emailIn(server, id, 'bounced');
    await until(
      () => statesOf(id),
      (rows) => rows.every(({ state }) => state !== 'waiting'),
      WITHIN_MS,
    );
    expect(await statesOf(id)).toEqual([
      { state: 'recorded', count: 1 },
      { state: 'untrusted', count: 100 },
    ]);
  });

  const addStrangers = (count: number, state: string) =>
    sql.rows(
      `insert into mail_reports (id, source, recipient, envelope_from, received_from, digest, raw, size_bytes,
         received_at, expires_at, state, due_at, failures)
       select id, 'smtp', 'abuse@posthorn.example', '', '192.0.2.66', uuid_send(id), '', 0, now(),
         now() + interval '1 day', $2, now() + interval '1 day', 0
       from (select overlay(gen_random_uuid()::text placing '00000000' from 1)::uuid as id
         from generate_series(1, $1)) ids`,
      [count, state],
    );
  const strangers = async (): Promise<number> =>
    (
      await sql.rows<{ count: number }>('select count(*)::int as count from mail_reports where environment_id is null')
    )[0]?.count ?? 0;

  it('junk to the addresses of the operator does not prevent a complaint; the newest 10,000 are kept', async () => {
    const { id, raw } = await delivered('angry@crowd.example');
    await addStrangers(10_150, 'unmatched');

    await door.toOperator(abuseReport(raw));

    await emailIn(server, id, 'complained');
    await until(strangers, (count) => count === 10_000, WITHIN_MS);
    await sql.rows(`delete from mail_reports where received_from = '192.0.2.66'`);
  });

  it('451: while a thousand reports to the operator are waiting; a bounce at a return path is taken', async () => {
    const { id, from } = await delivered('gone@crowd.example');
    await addStrangers(1_000, 'waiting');

    await expect(door.toOperator(deliveryReport({ recipient: 'late@crowd.example' }))).rejects.toMatchObject({
      type: 'unavailable',
    });
    await door.toReturnPath(from, deliveryReport({ recipient: 'gone@crowd.example' }));

    await emailIn(server, id, 'bounced');
    await sql.rows(`delete from mail_reports where received_from = '192.0.2.66'`);
  });

  it('two processes, one of them killed: every report is recorded exactly once', async () => {
    const sent = await Promise.all(Array.from({ length: 12 }, (_, n) => delivered(`r${n}@killed.example`)));
    const second = await startServer({ ...server.env, PORT: '0', SMTP_PORT: 'off' });
    const third = await startServer({ ...server.env, PORT: '0', SMTP_PORT: 'off' });
    try {
      await Promise.all(
        sent.map(({ from }, n) => door.toReturnPath(from, deliveryReport({ recipient: `r${n}@killed.example` }))),
      );
      await second.kill('SIGKILL');
      // The killed process's claim on the report would expire later by itself. The test changes the stored time instead
      // of waiting.
      await until(
        async () => {
          await sql.rows(`update mail_reports set due_at = now() where state = 'waiting'`);
          return Promise.all(sent.map(({ id }) => emailOf(server, id)));
        },
        (emails) => emails.every(({ status }) => status === 'bounced'),
        WITHIN_MS,
      );
      for (const { id } of sent) {
        expect(
          (await emailOf(server, id)).timeline.filter(({ type }: { type: string }) => type === 'bounced'),
        ).toHaveLength(1);
        // A second record of the bounce would increase this count. If there is no row, the system event was already
        // sent.
        expect(SIGNALLED_ONCE).toContain((await signals(id, 'email.bounced'))[0]?.count);
        expect(await reportsOf(id)).toMatchObject([{ state: 'recorded' }]);
      }
    } finally {
      await third.stop();
      await second.stop().catch(() => undefined);
    }
  });
});

(isPostfixInstalled() ? describe : describe.skip)('a bounce that Postfix wrote', () => {
  it('a bounce from Postfix after acceptance reaches the listener as a report, and the email has bounced; a forged return path is rejected', async () => {
    const relay = await startRelay();
    relay.refuseRecipients((address) =>
      address.startsWith('gone@') ? { code: 550, text: '5.1.1 No such user here' } : null,
    );
    const smtpPort = await freePort();
    const postfix = await Postfix.start(
      relay.port,
      { 'refused@postfix.example': '550 5.1.1 User unknown' },
      { 'bounce.posthorn.example': smtpPort },
    );
    const server = await startServer({
      EMAIL_TRANSPORT: `smtp://127.0.0.1:${postfix.port}?tls=off`,
      PLATFORM_DOMAIN: 'posthorn.example',
      SMTP_PORT: String(smtpPort),
      LOG_LEVEL: 'info',
    });
    const sql = openSql(server);
    try {
      await verifyDomain(server, sql, 'mail.example.com');
      const id = await sendEmail(server, {
        from: FROM,
        to: ['gone@postfix.example', 'fine@postfix.example'],
        subject: 'over postfix',
      });

      const email = await until(
        () => emailOf(server, id),
        ({ status }) => status === 'bounced',
        60_000,
      );
      expect(email.recipients).toMatchObject([
        { address: 'gone@postfix.example', status: 'bounced', detail: expect.stringContaining('No such user here') },
        { address: 'fine@postfix.example', status: 'delivered' },
      ]);
      expect((await server.api('GET', '/v1/suppressions/gone@postfix.example')).status).toBe(200);
      expect(expectStatus(await server.api('GET', '/v1/reports'), 200).json.data).toMatchObject([
        {
          email_id: id,
          source: 'smtp',
          kind: 'bounce',
          state: 'recorded',
          received_from: '127.0.0.1',
          envelope_from: '',
        },
      ]);

      const talk = await SmtpTalk.greeted(smtpPort);
      expect(await talk.say('MAIL FROM:<>')).toMatch(/^250/);
      expect(await talk.say(`RCPT TO:<b+${'00000001'.padEnd(56, 'a')}@bounce.posthorn.example>`)).toMatch(
        /^550 5\.1\.1/,
      );
      talk.socket.destroy();
    } finally {
      await sql.close();
      await server.stop();
      await postfix.stop();
      await relay.close();
    }
  }, 150_000);
});

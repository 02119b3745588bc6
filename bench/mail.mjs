/** Measures inbound and outbound mail, the upper limit of each, and a webhook destination during a flood of mail. */
import { nowMs } from './clock.mjs';
import { startMailInLimit, startMailOutLimit } from './limit/subject.mjs';
import { cpuSnapshot, databaseCounters } from './measure.mjs';
import { besideWhoGoesOn } from './neighbours.mjs';
import { startPosthorn } from './posthorn.mjs';
import { startHelper, stopProcess } from './processes.mjs';
import { DIGITS, MARK, SPREAD } from './protocol.mjs';
import { withSubject } from './subjects.mjs';
import { fillEmails, measure, PARTS, SETTLE_MS, sleep, WARM_UP_MS, watch, windowFigures } from './window.mjs';

const PROCESSES = 2;
const MESSAGE_BYTES = 4096;
/** Number of messages after which a freshly started program has compiled its hot code. */
const BREAK_IN_MAILS = 10_000;
export const BREAK_IN_EMAILS = 5_000;
const FILL_WITHIN_MS = 300_000;
const POLL_MS = 100;
const FLOOD_PER_SECOND = 500;
/** Number of connections of the mail flood. They are enough for the required rate, even if each reply takes 0.1 s. */
const FLOOD_CONNECTIONS = 64;
const READ_WITHIN_MS = 300_000;
/** Unmeasured time at the start of each slice, in which the service processes the mail received before the slice. */
const MAIL_STOPS_MS = 4_000;
const SENDER_DOMAIN = 'mail.example.com';

/** @typedef {import('./rows.mjs').Bench} Bench */
/** @typedef {import('./processes.mjs').Helper} Helper */
/** @typedef {import('./window.mjs').Subject & { database: string }} MailSubject */

/** @template T @param {string} name @param {(helper: Helper) => Promise<T>} use @returns {Promise<T>} */
async function withHelper(name, use) {
  const helper = startHelper(name);
  const result = await use(helper);
  await stopProcess(helper.child);
  return result;
}

/**
 * Creates an alias (an inbound email address) without a destination.
 *
 * @param {import('./rows.mjs').Service} subject
 * @returns {Promise<string>}
 */
async function createAlias(subject) {
  const { address } = await subject.call('POST', '/v1/aliases', {
    kind: 'platform',
    localPart: 'bench',
    destinationIds: [],
  });
  return address;
}

/**
 * Measures the acceptance of 4 KB messages over persistent connections. Compares the rows added to `table` with the
 * accepted messages, to count lost and duplicate messages.
 *
 * @param {Bench} bench @param {Helper} load @param {MailSubject} subject
 * @param {{ to: string, table: string, login?: { from: string, key: string } }} where `login`: submits emails
 * @returns {Promise<import('./window.mjs').Figures>}
 */
async function measureMail(bench, load, subject, { to, table, login }) {
  const { database, connections, seconds } = bench;
  const ports = login === undefined ? subject.smtpPorts : subject.submissionPorts;
  const order = { kind: 'start', ports, connections, to, bytes: MESSAGE_BYTES, login };
  const first = await fillMail(load, { ...order, first: 0, count: BREAK_IN_MAILS });
  const processes = [...subject.processes, { group: 'load', pid: load.child.pid ?? 0 }];
  await sleep(SETTLE_MS);
  await database.client.query('checkpoint');
  const storedBefore = await countRows(bench, subject, table);
  const countersBefore = await databaseCounters(database.client, subject.database);

  await load.ask({ ...order, first });
  await sleep(WARM_UP_MS);
  const marks = await watch(seconds, PARTS, () => cpuSnapshot(processes, database.postmasterPid));

  const sent = await load.ask({ kind: 'stop' });
  await sleep(SETTLE_MS);
  const countersAfter = await databaseCounters(database.client, subject.database);
  const stored = (await countRows(bench, subject, table)) - storedBefore;
  return {
    ...windowFigures(marks, sent, sent.acceptedAt, 1),
    commits: (countersAfter.commits - countersBefore.commits) / sent.accepted,
    walBytes: (countersAfter.walBytes - countersBefore.walBytes) / sent.accepted,
    lost: Math.max(0, sent.accepted - stored),
    duplicates: Math.max(0, stored - sent.accepted),
    refusals: sent.refusals,
  };
}

/**
 * Sends messages until `count` are accepted. Returns the number sent, because the numbers of refused messages must not
 * be reused.
 *
 * @param {Helper} load @param {{ count: number }} order @returns {Promise<number>}
 */
async function fillMail(load, order) {
  await load.ask(order);
  for (
    const giveUpAt = nowMs() + FILL_WITHIN_MS;
    (await load.ask({ kind: 'accepted' })) < order.count;
    await sleep(POLL_MS)
  ) {
    if (nowMs() > giveUpAt)
      throw new Error(`${order.count} messages were not accepted within ${FILL_WITHIN_MS / 60_000} minutes.`);
  }
  const { sentAt } = await load.ask({ kind: 'stop' });
  return sentAt.length;
}

/** @param {Bench} bench @param {MailSubject} subject @param {string} table @returns {Promise<number>} */
async function countRows(bench, subject, table) {
  const [row] = await bench.database.query(subject.database, `select count(*)::int as rows from ${table}`);
  return row.rows;
}

/**
 * Measures the library smtp-server with group commits: the upper limit for receiving mail.
 *
 * @type {import('./rows.mjs').Block}
 */
export const smtpInLimit = {
  rows: ['smtp-in-limit'],
  run: (bench, _wanted, report) =>
    withHelper('mail-load.mjs', (load) =>
      withSubject(
        bench,
        ({ databaseUrl }) => startMailInLimit({ databaseUrl, count: PROCESSES }),
        async (subject) => {
          report({
            name: 'smtp-in-limit',
            figures: await measureMail(bench, load, subject, { to: 'bench@in.example', table: 'mails' }),
          });
        },
        false,
      ),
    ),
};

/**
 * Measures the SMTP listener twice: in processes that only receive mail, and in processes that also process the mail.
 *
 * @type {import('./rows.mjs').Block}
 */
export const smtpIn = {
  rows: ['smtp-in', 'smtp-in-read'],
  run: async (bench, wanted, report) => {
    const starts = /** @type {[string, import('./posthorn.mjs').Role[]][]} */ ([
      ['smtp-in', ['api', 'smtp', 'smtp']],
      ['smtp-in-read', ['all', 'all']],
    ]);
    for (const [name, roles] of starts.filter(([row]) => wanted.has(row))) {
      await withHelper('mail-load.mjs', async (load) => {
        const more = { DNS_SERVERS: await load.ask({ kind: 'names' }) };
        await withSubject(
          bench,
          (options) => startPosthorn({ ...options, roles, more }),
          async (subject) => {
            const to = await createAlias(subject);
            report({ name, figures: await measureMail(bench, load, subject, { to, table: 'inbox_messages' }) });
          },
          false,
        );
      });
    }
  },
};

/**
 * Measures the submission of emails by mail clients. The emails are neither signed nor sent.
 *
 * @type {import('./rows.mjs').Block}
 */
export const submission = {
  rows: ['submission'],
  run: (bench, _wanted, report) =>
    withHelper('mail-load.mjs', (load) =>
      withSubject(
        bench,
        (options) => startPosthorn({ ...options, roles: ['api', 'smtp', 'smtp'] }),
        async (subject) => {
          await verifySender(bench, subject);
          const login = { from: `shop@${SENDER_DOMAIN}`, key: subject.key };
          const to = 'customer@d1.example';
          report({
            name: 'submission',
            figures: await measureMail(bench, load, subject, { to, table: 'emails', login }),
          });
        },
        false,
      ),
    ),
};

const number = MARK + '0'.repeat(DIGITS);
export const EMAIL = JSON.stringify({
  from: `Shop <shop@${SENDER_DOMAIN}>`,
  to: `customer@d${SPREAD}.example`,
  subject: `Your order ${number}`,
  text: 'A line of an ordinary letter, neither short nor long, as they are read every day.\n'.repeat(48),
});

/**
 * Returns a block that measures the rate at which the relay accepts emails. At most 2,000 emails wait for the relay, so
 * the service cannot accept emails faster than it sends them.
 *
 * @param {string} name
 * @param {(options: { databaseUrl: string, targetUrl: string, directory: string, relayPort: number }) =>
 * Promise<import('./window.mjs').Subject>} start
 * @param {(bench: Bench, subject: MailSubject) => Promise<void>} [prepare]
 * @returns {import('./rows.mjs').Block}
 */
function emailRow(name, start, prepare = async () => undefined) {
  return {
    rows: [name],
    run: (bench, _wanted, report) =>
      withHelper('mail-sink.mjs', async (sink) => {
        const { port: relayPort, countsPort } = await sink.ask({ kind: 'ports' });
        await withSubject(
          bench,
          (options) => start({ ...options, relayPort }),
          async (subject) => {
            await prepare(bench, subject);
            // The relay takes the role of the webhook receiver in this benchmark row.
            const toRelay = { ...bench, receiver: sink, countsPort };
            await fillEmails(toRelay, subject, EMAIL, BREAK_IN_EMAILS);
            report({ name, figures: await measure(toRelay, subject, { email: EMAIL }) });
            bench.nextNumber = toRelay.nextNumber;
          },
          false,
        );
      }),
  };
}

/**
 * Returns the environment variables of a service that sends its emails to the relay on a port.
 *
 * @param {number} relayPort
 */
export const sendingTo = (relayPort) => ({
  EMAIL_TRANSPORT: `smtp://127.0.0.1:${relayPort}?tls=off`,
  PLATFORM_DOMAIN: 'posthorn.example',
});

/**
 * Creates the sender's domain and marks it as verified, as if the service had found its DNS records.
 *
 * @param {Bench} bench @param {MailSubject} subject
 */
export async function verifySender(bench, subject) {
  await subject.call?.('POST', '/v1/domains', { domain: SENDER_DOMAIN, kind: 'email-send' });
  await bench.database.query(
    subject.database,
    `update domains set state = 'verified', is_owner = true, sending_enabled = true,
    next_check_at = now() + interval '1 day', verified_at = now() where host = $1`,
    [SENDER_DOMAIN],
  );
}

/** Measures a nodemailer pool without a database: the upper limit for sending mail. */
export const emailsOutLimit = emailRow('emails-out-limit', ({ relayPort }) =>
  startMailOutLimit({ relayPort, count: PROCESSES }),
);

export const emailsOut = emailRow(
  'emails-out',
  ({ relayPort, ...options }) => startPosthorn({ ...options, roles: ['all', 'all'], more: sendingTo(relayPort) }),
  verifySender,
);

/** @type {import('./rows.mjs').Block} */
export const besideMail = {
  rows: ['beside-mail'],
  run: (bench, wanted, report) =>
    withHelper('mail-load.mjs', async (load) => {
      const more = { DNS_SERVERS: await load.ask({ kind: 'names' }) };
      const block = besideWhoGoesOn(
        'beside-mail',
        async (_bench, subject) => {
          subject.processes.push({ group: 'load', pid: load.child.pid ?? 0 });
          const to = await createAlias(subject);
          let first = 0;
          const begin = async () => {
            await load.ask({
              kind: 'start',
              ports: subject.smtpPorts,
              connections: FLOOD_CONNECTIONS,
              to,
              bytes: MESSAGE_BYTES,
              first,
              perSecond: FLOOD_PER_SECOND,
            });
            return async () => {
              const { sentAt, acceptedAt, accepted } = await load.ask({ kind: 'stop' });
              first += sentAt.length;
              const ms = Math.max(...acceptedAt.slice(-FLOOD_CONNECTIONS)) - sentAt[0];
              console.log(`beside-mail: ${((accepted * 1000) / ms).toFixed(0)} messages were accepted per second`);
              await untilRead(bench, subject);
            };
          };
          return { begin, quietAfterMs: 0, rampMs: MAIL_STOPS_MS };
        },
        { more },
      );
      await block.run(bench, wanted, report);
    }),
};

/**
 * Waits until the service has processed all received mail, so that the processing does not disturb the next slice.
 *
 * @param {Bench} bench
 * @param {import('./rows.mjs').Service} subject
 */
async function untilRead(bench, subject) {
  const { database } = /** @type {MailSubject} */ (subject);
  for (const giveUpAt = nowMs() + READ_WITHIN_MS; nowMs() < giveUpAt; await sleep(POLL_MS)) {
    const [row] = await bench.database.query(
      database,
      `select exists (select 1 from inbox_messages where state = 'received') as waits`,
    );
    if (!row.waits) return;
  }
  throw new Error(`The received mail was not read within ${READ_WITHIN_MS / 60_000} minutes.`);
}

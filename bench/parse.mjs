/** Measures the parser of received mail: messages of different sizes, one after the other, in this process. */

/** Time limit for parsing the same message repeatedly. Every message is parsed at least twice. */
const ROW_MS_MAX = 5_000;
const WARM_UP = 3;

const HEAD = [
  'From: Ada <ada@customer.example>',
  'To: bench@in.example',
  'Subject: Order 42',
  'Date: Sat, 21 Nov 2026 09:30:00 +0100',
  'Message-ID: <1@customer.example>',
  'MIME-Version: 1.0',
  '',
].join('\r\n');

/** @param {number} bytes */
const alternative = (bytes) =>
  `${HEAD}Content-Type: multipart/alternative; boundary=x\r\n\r\n` +
  `--x\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${'Hello, where is my order?\r\n'.repeat(bytes / 54)}\r\n` +
  `--x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${'<p>Hello, where is it?</p>\r\n'.repeat(bytes / 56)}\r\n--x--\r\n`;

/** @param {number} bytes */
const onlyHtml = (bytes) =>
  `${HEAD}Content-Type: text/html; charset=utf-8\r\n\r\n${'<p>Hello, where is it?</p>\r\n'.repeat(bytes / 28)}`;

/** @param {number} bytes */
const withFile = (bytes) =>
  `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee the file.\r\n` +
  `--x\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${`${'A'.repeat(76)}\r\n`.repeat(bytes / 78)}--x--\r\n`;

/** @type {[string, () => string][]} */
const MESSAGES = [
  ['parse', () => alternative(4_000)],
  ['parse:html', () => onlyHtml(4_000)],
  ['parse:1mb', () => alternative(1_000_000)],
  ['parse:1mb-file', () => withFile(1_000_000)],
  ['parse:25mb-file', () => withFile(25_000_000)],
  ['parse:lines', () => `${HEAD}\r\n${'x\r\n'.repeat(500_000)}`],
];

/** @param {(raw: Buffer) => Promise<unknown>} parseMessage @param {Buffer} raw */
async function measureParser(parseMessage, raw) {
  for (let count = 0; count < WARM_UP; count++) await parseMessage(raw);
  const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
  let count = 0;
  for (; count < 2 || performance.now() - startedMs < ROW_MS_MAX; count++) await parseMessage(raw);
  const { user, system } = process.cpuUsage(cpu);
  const none = { p50: 0, p99: 0, max: 0 };
  return {
    deliveriesPerSecond: (count * 1_000) / (performance.now() - startedMs),
    ...{ accept: none, receipt: none, total: none },
    cpuMicros: { service: (user + system) / count },
    ...{ idle: 0, others: 0, steal: 0, waiting: 0, commits: 0, walBytes: 0, lost: 0, duplicates: 0, refusals: {} },
  };
}

/** @type {import('./rows.mjs').Block} */
export const parse = {
  rows: ['parse'],
  run: async (_bench, _wanted, report) => {
    const { parseMessage } = await import('../dist/src/modules/inbox/reading/parse-message.js');
    for (const [name, text] of MESSAGES)
      report({ name, figures: await measureParser(parseMessage, Buffer.from(text())) });
  },
};

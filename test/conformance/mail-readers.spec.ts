import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { attachmentOf, parseMessage } from '../../src/modules/inbox/reading/parse-message.js';
import { hasPythonModules, hasTool } from '../support/optional-tools.js';
import { DIFFERENCES } from './mail-differences.js';
import {
  type Compared,
  mailparserMessages,
  mikelMailMessages,
  type SourceMessage,
  spamAssassinMessages,
} from './mail-sources.js';

const PYTHON = process.env['POSTHORN_TEST_PYTHON'] ?? '';
const READER = path.join(import.meta.dirname, 'python_mail_reader.py');
const hasPython = hasTool(
  { skipped: "the comparison with Python's email package", tool: 'Python', install: 'set POSTHORN_TEST_PYTHON' },
  () => hasPythonModules(PYTHON, 'email'),
);
const compare = hasPython ? it : it.skip;
/** Time limit of a test that takes 40 s if no other suite runs. */
const LONG_MS = 900_000;

/** Returns the contents that Python's email package finds in the messages. */
function readByPython(messages: readonly SourceMessage[]): Compared[] {
  const input = messages.map(({ raw }) => `${raw.toString('base64')}\n`).join('');
  const { stdout, stderr } = spawnSync(PYTHON, [READER], { input, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (stderr !== '') throw new Error(stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Compared);
}

/** Returns the form `Name<address>` of an address. A name that repeats the address is left out. */
function plain(address: string): string {
  const [, quoted = '', inside] = /^(?:(.*?) ?)<([^<>]*)>$/.exec(address) ?? [];
  if (inside === undefined) return address.includes('@') ? `<${address}>` : `${address}<>`;
  const name = quoted.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1');
  return `${name === inside ? '' : name.trim().replaceAll(/\s+/g, ' ')}<${inside}>`;
}

async function readByPosthorn(raw: Buffer): Promise<Compared> {
  const { from, to, cc, subject, date, text, html, isTextFromHtml, attachments } = await parseMessage(raw);
  return {
    from: (from.match(/(?:"(?:\\.|[^"\\])*"|[^",])+/g) ?? []).map((address) => plain(address.trim())),
    to: to.map(plain),
    cc: cc.map(plain),
    subject: subject.replaceAll(/\s+/g, ' '),
    date,
    text: isTextFromHtml ? null : text,
    // Removes the text parts that the parser has added to the HTML, because `text` already compares them.
    html: (html ?? '').replaceAll(
      /<div style="white-space:pre-wrap">[^<]*<\/div>(?:<br\/>\n)?|<br\/>\n(?=<div style="white)/g,
      '',
    ),
    files: await Promise.all(
      attachments.map(async ({ filename, content_type: type, size_bytes: size }, index) => {
        const content = (await attachmentOf(raw, index))?.content ?? Buffer.alloc(0);
        const name = /^(?:attachment-\d+|message-\d+\.eml)$/.test(filename) ? null : filename;
        // Python parses nested messages, so their bytes are compared only in parse-message-bytes.spec.ts.
        if (type.startsWith('message/')) return { name, type, size: null, sha256: null };
        return { name, type, size, sha256: createHash('sha256').update(content).digest('hex') };
      }),
    ),
  };
}

/** Removes white space at the ends of lines, because only one of the two parsers removes it. */
const comparable = (value: unknown): string =>
  JSON.stringify(typeof value === 'string' ? value.replaceAll(/[ \t]+(?=\n|$)/g, '').trimEnd() : value);

/** Returns the fields that differ, by the message's id. */
async function differing(messages: readonly SourceMessage[]): Promise<Record<string, string[]>> {
  const expected = readByPython(messages);
  const found: Record<string, string[]> = {};
  for (const [index, { id, raw }] of messages.entries()) {
    const [ours, theirs] = [await readByPosthorn(raw), expected[index]!];
    const fields = (Object.keys(ours) as (keyof Compared)[]).filter(
      (field) => comparable(ours[field] ?? '') !== comparable(theirs[field] ?? ''),
    );
    if (fields.length > 0) found[id] = fields;
  }
  return found;
}

/** Returns the fields with a deliberate difference, by the message's id. */
function deliberate(messages: readonly SourceMessage[]): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const { field, ids } of DIFFERENCES)
    for (const id of ids) if (messages.some((message) => message.id === id)) (fields[id] ??= []).push(field);
  return fields;
}

describe("messages as read by Posthorn and by Python's email package", () => {
  compare.each<[string, () => SourceMessage[] | Promise<SourceMessage[]>, number]>([
    ["SpamAssassin's public corpus", spamAssassinMessages, 6_000],
    ["the messages in mailparser's tests", mailparserMessages, 80],
    ['the fixtures of mikel/mail', mikelMailMessages, 100],
  ])(
    '%s: all fields are equal, except for deliberate differences',
    async (_source, load, atLeast) => {
      const messages = await load();
      if (messages.length === 0) return;
      const found = await differing(messages);

      expect(messages.length).toBeGreaterThan(atLeast);
      expect(found).toEqual(deliberate(messages));
    },
    LONG_MS,
  );
});

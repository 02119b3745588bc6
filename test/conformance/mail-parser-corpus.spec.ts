import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { attachmentOf, parseMessage } from '../../src/modules/inbox/reading/parse-message.js';
import type { ParsedMessage } from '../../src/modules/inbox/reading/parsed-message.js';
import { ROOT } from '../architecture/source-tree.js';

/** Messages with expected contents, from the tests of stalwartlabs/mail-parser and Dovecot (MIT license). */
const DIRECTORY = path.join(ROOT, '../shared/corpora/mail-parser/eml');
const isThere = existsSync(DIRECTORY);
if (!isThere) process.stdout.write(`conformance: the corpus of mail-parser is skipped (no ${DIRECTORY}).\n`);
const files = isThere
  ? readdirSync(DIRECTORY).flatMap((folder) =>
      readdirSync(path.join(DIRECTORY, folder))
        .filter((file) => file.endsWith('.eml'))
        .map((file) => `${folder}/${file.replace('.eml', '')}`),
    )
  : [];

const NO_BOUNDARY = 'A multipart whose boundary occurs nowhere has a parse_error, and its content is the text.';
const NOT_CLOSED = 'The last part of a multipart that is not closed is text, not a file.';
const OUTER_BOUNDARY = 'A delimiter of an outer multipart ends the inner ones (RFC 2046, section 5.1.2).';
const EMPTY = 'An empty text is not listed as a file.';
const FIRST_TYPE = 'The first of two Content-Type headers counts, as in mail clients.';
const BLANK_TEXT = 'An empty text beside HTML is replaced by one that is derived from the HTML.';
const BASE64 = 'Characters outside the alphabet of base64 are skipped (RFC 2045, section 6.8).';

/** Deliberate differences from the corpus: the fields of a message, and the reason. */
const DIFFERENCES: Readonly<Record<string, { fields: (keyof Compared)[]; reason: string }>> = {
  'malformed/001': { fields: ['text', 'files'], reason: `${OUTER_BOUNDARY} ${EMPTY}` },
  'malformed/002': { fields: ['text', 'files'], reason: NO_BOUNDARY },
  'malformed/003': { fields: ['text', 'files'], reason: NOT_CLOSED },
  'malformed/004': { fields: ['text', 'files'], reason: NO_BOUNDARY },
  'malformed/006': { fields: ['text', 'files'], reason: NOT_CLOSED },
  'malformed/007': { fields: ['text', 'files'], reason: `${FIRST_TYPE} ${EMPTY}` },
  'malformed/008': { fields: ['text', 'html', 'files'], reason: NOT_CLOSED },
  'malformed/009': { fields: ['text', 'files'], reason: OUTER_BOUNDARY },
  'malformed/011': { fields: ['text', 'files'], reason: OUTER_BOUNDARY },
  'malformed/012': { fields: ['files'], reason: OUTER_BOUNDARY },
  'malformed/016': { fields: ['text', 'files'], reason: OUTER_BOUNDARY },
  'malformed/017': { fields: ['text', 'files'], reason: `Without a semicolon, there is no parameter. ${NO_BOUNDARY}` },
  'malformed/019': { fields: ['text'], reason: 'Without an empty line, the text begins at a line that is no header.' },
  'malformed/020': { fields: ['text', 'html'], reason: FIRST_TYPE },
  'malformed/021': { fields: ['text', 'html'], reason: FIRST_TYPE },
  'rfc/000': { fields: ['files'], reason: BASE64 },
  'rfc/001': { fields: ['files'], reason: 'File names have no path.' },
  'thirdparty/002': { fields: ['text', 'files'], reason: BASE64 },
  'thirdparty/005': { fields: ['text'], reason: 'A delimiter is a whole line (RFC 2046, section 5.1.1).' },
  'thirdparty/011': { fields: ['text'], reason: BLANK_TEXT },
  'thirdparty/015': {
    fields: ['text', 'files'],
    reason:
      'Lines of format=flowed are joined (RFC 3676). The corpus lists the second and third file as parts of the first.',
  },
};

/** Contents of a message, in a form to which the results of both parsers can be converted. */
interface Compared {
  from: string;
  to: string[];
  cc: string[];
  replyTo: string[];
  subject: string;
  date: string | null;
  inReplyTo: string | null;
  references: string[];
  text: string | null;
  html: string | null;
  files: { name: string | null; type: string; content: string | null }[];
}

interface CorpusPart {
  headers: { name: unknown; value: Record<string, unknown> }[];
  body: { Text?: string; Html?: string; Binary?: number[]; InlineBinary?: number[]; Message?: object };
}

interface CorpusMessage {
  html_body: number[];
  text_body: number[];
  attachments: number[];
  parts: CorpusPart[];
}

/** Returns the first header of this name, as the corpus has parsed it. */
function headerOf(part: CorpusPart, name: string): Record<string, unknown> | undefined {
  return part.headers.find((header) => header.name === name)?.value;
}

interface CorpusMailbox {
  name: string | null;
  address: string | null;
}

function addressesIn(part: CorpusPart, name: string): string[] {
  const given = headerOf(part, name)?.['Address'] as
    { List?: CorpusMailbox[]; Group?: { addresses: CorpusMailbox[] }[] } | undefined;
  const list = given?.List ?? given?.Group?.flatMap(({ addresses }) => addresses) ?? [];
  return list.map(({ name, address }) => `${name ?? ''}<${address ?? ''}>`);
}

function textsIn(part: CorpusPart, name: string): string[] {
  const value = headerOf(part, name);
  return [value?.['Text'] ?? value?.['TextList'] ?? []].flat().map(String);
}

function dateIn(part: CorpusPart): string | null {
  const date = headerOf(part, 'date')?.['DateTime'] as Record<string, number | boolean> | undefined;
  if (date === undefined) return null;
  const two = (field: string): string => String(date[field]).padStart(2, '0');
  const zone = `${date['tz_before_gmt'] === true ? '-' : '+'}${two('tz_hour')}:${two('tz_minute')}`;
  const time = `${String(date['year'])}-${two('month')}-${two('day')}T${two('hour')}:${two('minute')}:${two('second')}${zone}`;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

const withLf = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll('\0', '');

function expectedOf({ parts, text_body, html_body, attachments }: CorpusMessage): Compared {
  const root = parts[0]!;
  const of = (ids: readonly number[]): CorpusPart[] => ids.map((id) => parts[id]!);
  const texts = of(text_body).flatMap(({ body }) => body.Text ?? []);
  const pages = of(html_body).flatMap(({ body }) => body.Html ?? []);
  return {
    from: addressesIn(root, 'from').join(', '),
    to: addressesIn(root, 'to'),
    cc: addressesIn(root, 'cc'),
    replyTo: addressesIn(root, 'reply_to'),
    subject: textsIn(root, 'subject')[0] ?? '',
    date: dateIn(root),
    inReplyTo: textsIn(root, 'in_reply_to')[0] ?? null,
    references: textsIn(root, 'references'),
    text: texts.length === 0 ? null : withLf(texts.join('\n')),
    html: pages.length === 0 ? null : withLf(pages.join('<br/>\n')),
    files: of(attachments).map(fileOf),
  };
}

function fileOf(part: CorpusPart): Compared['files'][number] {
  type Structured = { c_type: string; c_subtype: string | null; attributes: { name: string; value: string }[] | null };
  const [type, disposition] = ['content_type', 'content_disposition'].map(
    (name) => headerOf(part, name)?.['ContentType'] as Structured | undefined,
  );
  const named = (from: Structured | undefined, name: string): string | undefined =>
    from?.attributes?.find((attribute) => attribute.name === name)?.value;
  const { Text, Html, Binary, InlineBinary } = part.body;
  const binary = Binary ?? InlineBinary;
  return {
    name: named(disposition, 'filename') ?? named(type, 'name') ?? null,
    type: type === undefined ? 'message/rfc822' : `${type.c_type}/${type.c_subtype ?? ''}`.toLowerCase(),
    content: binary === undefined ? (Text ?? Html ?? null) : Buffer.from(binary).toString('latin1'),
  };
}

/** Returns Posthorn's result in the form of the corpus. `expected` shows which fields the corpus can express. */
async function foundOf(raw: Buffer, message: ParsedMessage, expected: Compared): Promise<Compared> {
  const plain = (address: string): string => {
    const [, name = '', inside] = /^(?:(.*?) ?)<([^<>]*)>$/.exec(address) ?? [];
    if (inside !== undefined) return `${name.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1')}<${inside}>`;
    return address.includes('@') ? `<${address}>` : `${address}<>`;
  };
  const bare = (id: string): string => id.replace(/^<|>$/g, '');
  const found = await Promise.all(
    message.attachments.map(async ({ filename, content_type: type }, index) => {
      const content = Buffer.from((await attachmentOf(raw, index))?.content ?? []);
      const wanted = expected.files[index];
      const isText = wanted?.content !== null && wanted?.content === content.toString('utf8');
      return {
        name: /^(?:attachment-\d+|message-\d+\.eml)$/.test(filename) ? null : filename,
        type,
        // The corpus expects nested messages to be parsed, but Posthorn keeps their bytes.
        content:
          type === 'message/rfc822' && wanted?.content === null ? null : content.toString(isText ? 'utf8' : 'latin1'),
      };
    }),
  );
  return {
    from: message.from === '' ? '' : plain(message.from),
    to: message.to.map(plain),
    cc: message.cc.map(plain),
    replyTo: message.replyTo.map(plain),
    subject: message.subject,
    date: message.date,
    inReplyTo: message.inReplyTo === null ? null : bare(message.inReplyTo),
    references: message.references.map(bare),
    text: message.isTextFromHtml ? null : message.text,
    html:
      message.html === null
        ? null
        : message.html.replaceAll(
            /<div style="white-space:pre-wrap">[^<]*<\/div>(?:<br\/>\n)?|<br\/>\n(?=<div style="white)/g,
            '',
          ),
    files: found,
  };
}

(isThere ? describe : describe.skip)("mail-parser's corpus of valid and malformed mail", () => {
  // jest rejects an empty table, also in a skipped suite.
  it.each(isThere ? files : ['no corpus'])(
    '%s: all fields are those of the corpus, except for deliberate differences',
    async (name) => {
      const raw = readFileSync(path.join(DIRECTORY, `${name}.eml`));
      const expected = expectedOf(
        JSON.parse(readFileSync(path.join(DIRECTORY, `${name}.json`), 'utf8')) as CorpusMessage,
      );

      const found = await foundOf(raw, await parseMessage(raw), expected);

      const { fields, reason } = DIFFERENCES[name] ?? { fields: [], reason: '' };
      const differing = (Object.keys(expected) as (keyof Compared)[]).filter(
        (field) => JSON.stringify(found[field]) !== JSON.stringify(expected[field]),
      );
      expect({ name, reason, differing }).toEqual({ name, reason, differing: fields });
    },
  );

  it('the list of differences names no message that is not in the corpus', () => {
    expect(Object.keys(DIFFERENCES).filter((name) => !files.includes(name))).toEqual([]);
  });
});

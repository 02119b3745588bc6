import { buffer } from 'node:stream/consumers';
import type { Mailbox } from '#engine/mail/addresses.js';
import { memoizeAsync } from '#kernel/concurrency/memoize-async.js';
import type { DkimKey } from '#modules/domains/contract.js';

/** A file that goes with a message. */
export interface ComposedAttachment {
  filename: string;
  contentType: string;
  content: Buffer;
  /** What `cid:` in the HTML refers to, without angle brackets; null for none. */
  contentId: string | null;
}

/** What builds and signs messages is loaded with the first one: most installations send no email. */
const library = memoizeAsync(() => import('./message-library.js'));

/** What a message consists of. There is no bcc: it is the envelope's, and never in the bytes. */
export interface ComposedMessage {
  /** With its angle brackets. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly Mailbox[];
  subject: string;
  html: string | null;
  text: string | null;
  /** Without faults (`mailHeaderFaults`). */
  headers: Readonly<Record<string, string>>;
  attachments: readonly ComposedAttachment[];
}

/** RFC 6376 section 5.4.1, and what RFC 8058 wants signed beside it. What occurs once is signed once. */
const SIGNED_FIELDS = [
  'From',
  'Sender',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'Cc',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'In-Reply-To',
  'References',
  'List-Id',
  'List-Help',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'List-Subscribe',
  'List-Post',
  'List-Owner',
  'List-Archive',
];

/** What a provider sets anew on the way. */
const IDENTITY_FIELDS: ReadonlySet<string> = new Set(['Date', 'Message-ID']);

const SIGNATURE = 'DKIM-Signature: ';
/** RFC 8301 section 3.2. */
const KEY_BITS_MIN = 1024;
const OCTETS = 'application/octet-stream';
/** RFC 2045 section 5.1; a multipart is framing, which no leaf may be. */
const LEAF_TYPE =
  /^(?!multipart\/)[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;\s*[a-z0-9_.*'-]+=(?:"[^"\\\x00-\x1f\x7f]*"|[a-z0-9!#$&^_.+*'{}|~%-]+))*\s*$/i;
const LINE_END = /\r\n|\r|\n/g;
const LINE_BYTES_MAX = 998;
const CR = 0x0d;
const LF = 0x0a;

/** A message came out that must not leave: without a signature, or with lines that servers read differently. */
export class NotComposed extends Error {}

/**
 * The bytes of a message as they leave on every attempt: lines end in CRLF, and it is signed for the domain (RFC 6376,
 * rsa-sha256, relaxed/relaxed), without Message-ID and Date where the transport rewrites them. Reads nothing but what
 * it is given. Throws `NotComposed` rather than give back a message that is not signed, as the library does with a key
 * that it can't use.
 */
export async function compose(
  message: ComposedMessage,
  dkim: DkimKey & { domain: string },
  { rewritesIdentity }: { rewritesIdentity: boolean } = { rewritesIdentity: false },
): Promise<Buffer> {
  const { MailComposer } = await library();
  const node = new MailComposer({
    messageId: message.messageId,
    date: message.date,
    from: message.from,
    to: [...message.to],
    cc: [...message.cc],
    replyTo: [...message.replyTo],
    subject: message.subject,
    ...(message.text !== null && { text: withCrlf(message.text) }),
    ...(message.html !== null && { html: withCrlf(message.html) }),
    headers: Object.entries(message.headers).map(([key, value]) => ({ key, value })),
    attachments: message.attachments.map(leafOf),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const unsigned = await node.build();
  refuseLooseLineEnds(unsigned);
  return signed(
    unsigned,
    dkim,
    SIGNED_FIELDS.filter((name) => !rewritesIdentity || !IDENTITY_FIELDS.has(name)),
  );
}

async function signed(
  unsigned: Buffer,
  { domain, selector, privateKey }: DkimKey & { domain: string },
  fields: readonly string[],
): Promise<Buffer> {
  const { asymmetricKeyType, asymmetricKeyDetails } = privateKey;
  if (asymmetricKeyType !== 'rsa' || (asymmetricKeyDetails?.modulusLength ?? 0) < KEY_BITS_MIN)
    throw new NotComposed('The DKIM key is no RSA key that verifiers take.');
  const { DKIM } = await library();
  const signer = new DKIM({
    domainName: domain,
    keySelector: selector,
    privateKey,
    headerFieldNames: fields.join(':'),
  });
  const raw = await buffer(signer.sign(unsigned));
  if (raw.toString('latin1', 0, SIGNATURE.length) !== SIGNATURE)
    throw new NotComposed('The message could not be signed with the DKIM key.');
  return raw;
}

function leafOf({ filename, contentType, content, contentId }: ComposedAttachment): object {
  const type = LEAF_TYPE.test(contentType) ? contentType : OCTETS;
  const leaf = {
    filename,
    contentType: type,
    content,
    ...(contentId !== null && { cid: contentId.replace(/[<>\s]/g, '') }),
  };
  if (!/^message\//i.test(type)) return leaf;
  // A message in a message is not encoded (RFC 2046 section 5.2.1), so it is one, or it goes as bytes.
  const lines = content.toString('latin1').split(LINE_END);
  const isMessage = lines.every((line) => line.length <= LINE_BYTES_MAX) && !content.includes(0);
  return isMessage ? { ...leaf, content: Buffer.from(lines.join('\r\n'), 'latin1') } : { ...leaf, contentType: OCTETS };
}

const withCrlf = (text: string): string => text.replace(LINE_END, '\r\n');

/** A CR or LF by itself is where servers disagree about the end of a message (SMTP smuggling). */
function refuseLooseLineEnds(bytes: Buffer): void {
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) throw new NotComposed('A line of the message ends in LF alone.');
  }
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1)) {
    if (bytes[at + 1] !== LF) throw new NotComposed('A line of the message ends in CR alone.');
  }
}

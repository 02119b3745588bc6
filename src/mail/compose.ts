import { buffer } from 'node:stream/consumers';
import type { Mailbox } from '#engine/mail/addresses.js';
import { memoizeAsync } from '#kernel/concurrency/memoize-async.js';
import type { DkimKey } from '#modules/domains/contract.js';

export interface ComposedAttachment {
  filename: string;
  contentType: string;
  content: Buffer;
  /** The name by which the HTML refers to the file (`cid:`), without angle brackets. Null if the file has none. */
  contentId: string | null;
}

/** The library is loaded on first use, because most installations send no email. */
const library = memoizeAsync(() => import('./message-library.js'));

/** There is no Bcc on purpose: it exists only in the envelope, never in the bytes of the message. */
export interface ComposedMessage {
  messageId: string;
  date: Date;
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly Mailbox[];
  subject: string;
  html: string | null;
  text: string | null;
  /** The headers have already passed `mailHeaderFaults`. */
  headers: Readonly<Record<string, string>>;
  attachments: readonly ComposedAttachment[];
}

/** The header fields to sign (RFC 6376, section 5.4.1, and RFC 8058). A field that occurs once is signed once. */
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

/** Header fields that an email provider replaces. */
const IDENTITY_FIELDS: ReadonlySet<string> = new Set(['Date', 'Message-ID']);

const SIGNATURE = 'DKIM-Signature: ';
/** Minimum size of a key in bits (RFC 8301 section 3.2). */
const KEY_BITS_MIN = 1024;
const OCTETS = 'application/octet-stream';
/** Content types of RFC 2045 section 5.1. A multipart type is framing and not allowed for an attachment. */
const LEAF_TYPE =
  /^(?!multipart\/)[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;\s*[a-z0-9_.*'-]+=(?:"[^"\\\x00-\x1f\x7f]*"|[a-z0-9!#$&^_.+*'{}|~%-]+))*\s*$/i;
const LINE_END = /\r\n|\r|\n/g;
const LINE_BYTES_MAX = 998;
const CR = 0x0d;
const LF = 0x0a;

/** Thrown if the message has no signature, or has lines that servers interpret differently. */
export class NotComposed extends Error {}

/**
 * Builds the bytes of a message that every attempt sends. Depends only on its arguments.
 *
 * Lines end in CRLF. The message is signed for the domain (RFC 6376, rsa-sha256, relaxed/relaxed), without Message-ID
 * and Date if the transport rewrites them. Throws `NotComposed` for an unsigned result, which the library returns if it
 * cannot use the key.
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
  // A nested message must not be encoded (RFC 2046 section 5.2.1). If its lines are too long or contain NUL, it is
  // attached as binary data.
  const lines = content.toString('latin1').split(LINE_END);
  const isMessage = lines.every((line) => line.length <= LINE_BYTES_MAX) && !content.includes(0);
  return isMessage ? { ...leaf, content: Buffer.from(lines.join('\r\n'), 'latin1') } : { ...leaf, contentType: OCTETS };
}

const withCrlf = (text: string): string => text.replace(LINE_END, '\r\n');

/** Rejects a bare CR or LF, because servers disagree about whether it ends a message (SMTP smuggling). */
function refuseLooseLineEnds(bytes: Buffer): void {
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) throw new NotComposed('A line of the message ends in LF alone.');
  }
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1)) {
    if (bytes[at + 1] !== LF) throw new NotComposed('A line of the message ends in CR alone.');
  }
}

import { isAscii } from 'node:buffer';
import type { Mailbox } from '#engine/mail/addresses.js';
import { LINE_BYTES_MAX, lineFaultOf } from '#engine/mail/line-faults.js';
import { memoizeAsync } from '#kernel/concurrency/memoize-async.js';
import type { DkimKey, SigningKeys } from '#modules/domains/contract.js';
import { foldable, withoutRuns } from './foldable.js';

export interface ComposedAttachment {
  filename: string;
  contentType: string;
  content: Buffer;
  /** The name by which the HTML refers to the file (`cid:`), without angle brackets. Null if the file has none. */
  contentId: string | null;
}

/** The library is loaded at the first email, because most installations send no email. */
const library = memoizeAsync(() => import('./message-library.js'));
const ed25519Library = memoizeAsync(() => import('./ed25519-library.js'));

/** Content of a message to build. It has no Bcc on purpose: blind copies are only in the envelope. */
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

/**
 * The header fields to sign (RFC 6376, section 5.4.1, and RFC 8058). No field is oversigned (signed more often than it
 * occurs).
 */
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

/** Header fields that some email providers replace, such as SES. They are not signed for such a provider. */
const IDENTITY_FIELDS: ReadonlySet<string> = new Set(['Date', 'Message-ID']);

const SIGNATURE = 'DKIM-Signature: ';
/** The DKIM-Signature fields at the beginning of a message, with their folding. */
const SIGNATURES = /^(?:DKIM-Signature: [^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*)+/;
const SIGNATURES_BYTES_MAX = 8_192;
/** Minimum size of a DKIM key in bits (RFC 8301 section 3.2). */
const KEY_BITS_MIN = 1024;
const OCTETS = 'application/octet-stream';
/**
 * Content types of RFC 2045, section 5.1. Excludes multipart types, which structure a message and are not allowed for
 * an attachment.
 */
const LEAF_TYPE =
  /^(?!multipart\/)[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;\s*[a-z0-9_.*'-]+=(?:"[^"\\\x00-\x1f\x7f]*"|[a-z0-9!#$&^_.+*'{}|~%-]+))*\s*$/i;
/** Types that mail clients add to the displayed text if the attachment is inline. Such a file is never inline. */
const SHOWN_AS_TEXT = /^(?:text\/(?:plain|html)|message\/)/i;
const LINE_END = /\r\n|\r|\n/g;

/** Thrown if a message cannot be signed, or contains a bare CR, a bare LF, or a line of more than 998 bytes. */
export class NotComposed extends Error {}

/**
 * Builds the bytes of a message. Depends only on its arguments.
 *
 * Lines end in CRLF. The message is signed for the domain (RFC 6376, rsa-sha256, relaxed/relaxed). The signature
 * excludes Message-ID and Date if the transport rewrites them. With an Ed25519 key, a second signature (RFC 8463)
 * follows the first one.
 *
 * Throws `NotComposed` if the libraries return an unsigned message, because they could not use a key.
 */
export async function compose(
  message: ComposedMessage,
  dkim: SigningKeys & { domain: string },
  { rewritesIdentity }: { rewritesIdentity: boolean } = { rewritesIdentity: false },
): Promise<Buffer> {
  const { MailComposer } = await library();
  const node = new MailComposer({
    messageId: message.messageId,
    date: message.date,
    from: foldableMailbox(message.from),
    to: message.to.map(foldableMailbox),
    cc: message.cc.map(foldableMailbox),
    replyTo: message.replyTo.map(foldableMailbox),
    subject: foldable(message.subject),
    ...bodiesOf(message),
    headers: Object.entries(message.headers).map(([key, value]) => ({ key, value: withoutRuns(value) })),
    attachments: message.attachments.map(leafOf),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const unsigned = await node.build();
  return Buffer.concat([await dkimSignatures(unsigned, dkim, { rewritesIdentity, date: message.date }), unsigned]);
}

/**
 * Returns the DKIM-Signature fields of a complete message, with the same keys and signed fields as `compose`. They are
 * the first bytes of the message to send. Throws `NotComposed`.
 */
export async function dkimSignatures(
  unsigned: Buffer,
  dkim: SigningKeys & { domain: string },
  { rewritesIdentity, date }: { rewritesIdentity: boolean; date: Date },
): Promise<Buffer> {
  const fault = lineFaultOf(unsigned);
  if (fault !== null) throw new NotComposed(fault);
  const fields = SIGNED_FIELDS.filter((name) => !rewritesIdentity || !IDENTITY_FIELDS.has(name));
  const { domain, ed25519 } = dkim;
  const rsa = await rsaSignature(unsigned, dkim, fields);
  return ed25519 === undefined
    ? rsa
    : Buffer.concat([rsa, await ed25519Signature(unsigned, { ...ed25519, domain }, fields, date)]);
}

/** Returns whether the domain signed the message only with selectors other than its current one. */
export function isKeyChanged(message: Buffer, { domain, selector }: { domain: string; selector: string }): boolean {
  const signatures = SIGNATURES.exec(message.toString('latin1', 0, SIGNATURES_BYTES_MAX))?.[0] ?? '';
  const fields = signatures.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const tags = fields.map((field) => field.slice(SIGNATURE.length).split(/;\s*/));
  const ofDomain = tags.filter((each) => each.includes(`d=${domain}`));
  return ofDomain.length > 0 && !ofDomain.some((each) => each.includes(`s=${selector}`));
}

async function ed25519Signature(
  unsigned: Buffer,
  { domain, selector, privateKey }: DkimKey & { domain: string },
  fields: readonly string[],
  signTime: Date,
): Promise<Buffer> {
  const { dkimSign } = await ed25519Library();
  const key = { signingDomain: domain, selector, privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }) };
  const { signatures, errors } = await dkimSign(unsigned, {
    // The library's types require the key here, but its code reads the key from `signatureData`.
    ...key,
    signatureData: [key],
    canonicalization: 'relaxed/relaxed',
    algorithm: 'ed25519-sha256',
    signTime,
    strict: true,
    headerList: [...fields],
  });
  if (errors.length > 0 || !signatures.startsWith(SIGNATURE))
    throw new NotComposed('The message could not be signed with the Ed25519 key.');
  return Buffer.from(signatures);
}

async function rsaSignature(
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
  const raw = Buffer.concat(await signer.sign(unsigned).toArray());
  // Without a usable key, the library returns the message unchanged.
  if (raw.toString('latin1', 0, SIGNATURE.length) !== SIGNATURE)
    throw new NotComposed('The message could not be signed with the DKIM key.');
  return Buffer.from(raw.subarray(0, raw.length - unsigned.length));
}

/**
 * Returns the text and the HTML with CRLF line ends.
 *
 * A message with a single part always ends in a line break. If the text itself ends in one, it gets a second one, so that
 * the API can return the text as it was given. In a multipart, the last line break belongs to the boundary.
 */
function bodiesOf({ text, html, attachments }: ComposedMessage): { text?: string; html?: string } {
  const isSinglePart = attachments.length === 0 && (!text || !html);
  const bodyOf = (given: string): string => {
    const body = withCrlf(given);
    return isSinglePart && body.endsWith('\r\n') ? `${body}\r\n` : body;
  };
  return { ...(text !== null && { text: bodyOf(text) }), ...(html !== null && { html: bodyOf(html) }) };
}

/** Returns an attachment with the content type and the bytes that it has in a composed message. */
export function attachmentAsSent({ contentType, content, ...rest }: ComposedAttachment): ComposedAttachment {
  const type = LEAF_TYPE.test(contentType) ? contentType : OCTETS;
  if (!/^message\//i.test(type)) return { ...rest, contentType: type, content };
  // A nested message must not be encoded (RFC 2046, section 5.2.1). If it has 8-bit characters, NUL or overlong lines,
  // a relay may have to convert it, which breaks the signature (RFC 6376, section 5.3). Such a message is therefore
  // attached as binary data.
  const lines = content.toString('latin1').split(LINE_END);
  const isMessage = isAscii(content) && !content.includes(0) && lines.every((line) => line.length <= LINE_BYTES_MAX);
  return isMessage
    ? { ...rest, contentType: type, content: Buffer.from(lines.join('\r\n'), 'latin1') }
    : { ...rest, contentType: OCTETS, content };
}

function leafOf(attachment: ComposedAttachment): object {
  const { filename, contentType, content, contentId } = attachmentAsSent(attachment);
  return {
    filename,
    contentType,
    content,
    contentDisposition: contentId === null || SHOWN_AS_TEXT.test(contentType) ? 'attachment' : 'inline',
    ...(contentId !== null && { cid: contentId.replace(/[<>\s]/g, '') }),
  };
}

const foldableMailbox = ({ name, address }: Mailbox): Mailbox => ({ name: withoutRuns(name), address });

const withCrlf = (text: string): string => text.replace(LINE_END, '\r\n');

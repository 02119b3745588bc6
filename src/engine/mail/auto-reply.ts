import { mailboxesByGrammar } from './address-syntax.js';
import { suppressionKey } from './addresses.js';
import { isAutoSubmitted } from './author.js';
import type { Auth } from './mail-verdicts.js';
import { type HeadField, valuesOf } from './message-head.js';

/** Automatic reply of an alias, in its stored form. */
export interface AutoReplySettings {
  subject: string;
  text: string | null;
  html: string | null;
  fromName: string | null;
  /** Period in which a sender gets at most one reply, as an ISO 8601 duration. */
  oncePer: string;
}

/** Reason why a message gets no automatic reply. */
export type NoReplyReason =
  'null_sender' | 'sender_is_a_machine' | 'automatic_message' | 'list_message' | 'not_addressed' | 'auth_failed';

/** Local parts that must not get an automatic reply: mail systems, lists, and no-reply addresses (RFC 3834, 2). */
const MACHINES = [
  /^(?:mailer-daemon|postmaster|listserv|majordomo|mailer|nobody|uucp)(?:[-+].*)?$/i,
  /^(?:(?:no|not|do[-_.]?not)[-_.]?(?:reply|respond|response)|auto[-_.]?(?:reply|respond|responder|confirm))(?:[-_.+].*)?$/i,
  /^(?:noreply.*|owner-.*|.*-(?:owner|request|relay))$/i,
  /^(?:.*[-_])?bounces?(?:[-_.+=\d].*)?$/i,
  // ezmlm: list-return-123-user=domain@, list-return-@
  /^.*-return-(?:\d.*)?$/i,
  // Mailman: list-confirm+token@, Google Groups: list+bncTOKEN@
  /^.*(?:-confirm\+|\+bnc).+$/i,
  /^(?:(?:ms)?prvs\d?=|btv1==|(?:.*\+)?srs[01]?[=+-]).*$/i,
  // VERP: list+user=example.com@
  /^.+=[a-z\d-]+(?:\.[a-z\d-]+)+$/i,
  // Amazon SES, Posthorn's return paths
  /^[\da-f]{16}-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}-\d{6}$/i,
  /^b\+(?:r[a-z2-7]{56}|[\da-f]{56})$/i,
];
/** Tag of Bounce Address Tag Validation: `prvs=0891a9abd5=` (most servers), `btv1==31277f5e0ab==` (Barracuda). */
const BOUNCE_TAG = /^(?:prvs=[\da-f]{6,12}=|btv1==[\da-z]+==)(?=[^@=]+@)/i;
const LIST_FIELD = /^(?:list-|x-list-|mailing-list$|x-mailing-list$|x-loop$)/;
/** Values of the Precedence header that mark list or bulk mail. */
const BULK = /^(?:list|bulk|junk)\b/i;
/** Values of Microsoft's header `X-Auto-Response-Suppress` that forbid automatic replies. */
const SUPPRESSED = /\b(?:all|oof|autoreply)\b/i;

/** Pattern of addresses, for headers with invalid syntax. */
const ADDRESS_LIKE = /[^\s<>()[\]",;:]{1,256}@[^\s<>()[\]",;:]{1,255}/g;

export interface RepliedMessage {
  fields: readonly HeadField[];
  envelopeFrom: string;
  /** Envelope recipients through which the message reached the alias. */
  envelopeTo: readonly string[];
  auth: Auth;
}

/**
 * Returns the address that an automatic reply goes to: the envelope sender without a tag against forged bounces. The tag
 * changes every day, and a person's server adds it to each message.
 */
export function repliedAddress(envelopeFrom: string): string {
  return envelopeFrom.replace(BOUNCE_TAG, '');
}

/** Returns the reason why a message must not get an automatic reply (RFC 3834). Null if it may get one. */
export function noReplyReason({ fields, envelopeFrom, envelopeTo, auth }: RepliedMessage): NoReplyReason | null {
  if (envelopeFrom === '') return 'null_sender';
  const address = repliedAddress(envelopeFrom);
  const local = address.slice(0, address.lastIndexOf('@')).replace(/^"(.*)"$/, '$1');
  if (MACHINES.some((pattern) => pattern.test(local))) return 'sender_is_a_machine';
  if (
    isAutoSubmitted(fields) ||
    valuesOf(fields, 'x-auto-response-suppress').some((value) => SUPPRESSED.test(value)) ||
    valuesOf(fields, 'return-path').some((value) => /^<?>?$/.test(value))
  )
    return 'automatic_message';
  if (
    fields.some(({ name }) => LIST_FIELD.test(name)) ||
    valuesOf(fields, 'precedence').some((value) => BULK.test(value))
  )
    return 'list_message';
  if (!isAddressed(fields, envelopeTo)) return 'not_addressed';
  return auth === 'fail' ? 'auth_failed' : null;
}

/** Returns whether a To or Cc header contains a recipient. Blind copies and list mail get no reply (RFC 3834, 2). */
function isAddressed(fields: readonly HeadField[], recipients: readonly string[]): boolean {
  const named = ['to', 'cc', 'resent-to', 'resent-cc']
    .flatMap((name) => valuesOf(fields, name))
    .flatMap((value) => mailboxesByGrammar(value)?.map(({ address }) => address) ?? value.match(ADDRESS_LIKE) ?? []);
  const keys = new Set(named.slice(0, 1_000).map(suppressionKey));
  return recipients.some((recipient) => keys.has(suppressionKey(recipient)));
}

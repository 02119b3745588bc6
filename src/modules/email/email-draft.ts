import { type Mailbox, parseMailbox, suppressionKey } from '#engine/mail/addresses.js';
import { hasContent } from '#engine/mail/email-content.js';
import { HEADERS_MAX, HEADERS_RULE, mailHeaderFaults } from '#engine/mail/header-rules.js';
import { readSchedule } from '#engine/mail/schedule.js';
import { placeholderFaults } from '#kernel/crypto/sensitive-headers.js';
import type { Fault } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { ComposedAttachment } from '#mail/compose.js';
import { type AttachmentDraft, readAttachments } from './attachment-draft.js';
import { type FieldNames, isRecord, named } from './draft-fields.js';
import { readUnsubscribe, type UnsubscribeRequest } from './unsubscribe-request.js';

/** Maximum number of recipients, including cc and bcc. */
export const RECIPIENTS_MAX = 50;
export const TAGS_MAX = 20;
const REPLY_TO_MAX = 50;
/** Maximum length of a subject: the line length of RFC 5322, section 2.1.1. */
export const SUBJECT_CHARACTERS_MAX = 998;
export const TEXT_BYTES_MAX = 1_048_576;
export const TAG = /^[A-Za-z0-9_-]{1,256}$/;
const UNWELL = /\p{Cs}/u;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

const NAMES: FieldNames = {
  known: new Set([
    'from',
    'to',
    'cc',
    'bcc',
    'reply_to',
    'subject',
    'html',
    'text',
    'headers',
    'attachments',
    'tags',
    'scheduled_at',
    'unsubscribe',
    'topic_id',
  ]),
  aliases: { replyTo: 'reply_to', scheduledAt: 'scheduled_at', topicId: 'topic_id' },
  // `TemplatedDrafts` replaces `template` with the template's content before this code runs, so the field is rejected
  // here.
  refused: new Set(['template']),
};

export interface Tag {
  name: string;
  value: string;
}

/** A validated email. All addresses are parsed. */
export interface EmailDraft {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
  replyTo: Mailbox[];
  subject: string;
  html: string | null;
  text: string | null;
  headers: Record<string, string>;
  attachments: AttachmentDraft[];
  tags: Tag[];
  /** Time at which to send the email, possibly in the past. Null to send it now. */
  scheduledAt: Date | null;
  /** Null if the email has no unsubscribe link. */
  unsubscribe: UnsubscribeRequest | null;
  /** The template from which the content was rendered. Null if there was none. */
  template: { id: Id; version: number } | null;
}

/** An email with errors. A list or object with an error is empty, so that the others can be checked further. */
export interface InvalidDraft extends Pick<
  EmailDraft,
  'to' | 'cc' | 'bcc' | 'replyTo' | 'unsubscribe' | 'attachments'
> {
  faults: Fault[];
  /** Null if the sender itself is invalid. */
  from: Mailbox | null;
}

/** A draft with the bytes of all attachments and the id of its topic. */
export interface CompleteDraft extends Omit<EmailDraft, 'attachments' | 'unsubscribe'> {
  attachments: readonly ComposedAttachment[];
  /**
   * Null or undefined if the email has no unsubscribe link. Drafts that older versions stored do not have this field.
   */
  unsubscribe?: { topicId: Id | null } | null;
}

class Faults {
  readonly found: Fault[] = [];

  add(path: string, message: string): null {
    this.found.push({ path, message });
    return null;
  }

  /** Returns whether a field or one of its entries has an error. */
  has(field: string): boolean {
    return this.found.some(({ path }) => path === field || path.startsWith(`${field}.`));
  }
}

/**
 * Parses an email. Returns all errors together. Times such as `in 5 minutes` are relative to `nowMs`. Has no side
 * effects.
 */
export function readEmail(given: unknown, nowMs: number): EmailDraft | InvalidDraft {
  if (!isRecord(given)) return { ...EMPTY, faults: [{ path: '', message: 'An email is a JSON object.' }] };
  const faults = new Faults();
  const fields = named(given, NAMES, (name, message) => faults.add(name, message));
  const from = mailboxOf(fields['from'], 'from', faults);
  const [to, cc, bcc] = (['to', 'cc', 'bcc'] as const).map((kind) =>
    mailboxesOf(fields[kind], kind, RECIPIENTS_MAX, faults),
  ) as [Mailbox[], Mailbox[], Mailbox[]];
  if (fields['to'] === undefined || (Array.isArray(fields['to']) && fields['to'].length === 0))
    faults.add('to', 'must name at least one recipient');
  const recipients = to.length + cc.length + bcc.length;
  if (recipients > RECIPIENTS_MAX)
    faults.add(
      'to',
      `An email has at most ${RECIPIENTS_MAX} recipients, those of cc and bcc included, and this one has ${recipients}.`,
    );
  const html = bodyOf(fields['html'], 'html', faults);
  const text = bodyOf(fields['text'], 'text', faults);
  const { attachments, faults: refused } = readAttachments(fields['attachments']);
  // An email may consist of attachments and an empty text.
  const lacksContent = (html ?? text) === null || (attachments.length === 0 && !hasContent({ html, text }));
  if (lacksContent && !faults.has('html') && !faults.has('text'))
    faults.add('text', 'An email needs a text, html, or both, and they must not be blank.');
  faults.found.push(...refused);
  const { unsubscribe, headers } = readUnsubscribe(
    {
      unsubscribe: fields['unsubscribe'],
      topicId: fields['topic_id'],
      headers: headersOf(fields['headers'], faults),
      recipients: recipientsOf({ to, cc, bcc }).length,
    },
    (path, message) => faults.add(path, message),
  );
  const draft = {
    to,
    cc,
    bcc,
    html,
    text,
    attachments,
    subject: subjectOf(fields['subject'], faults),
    headers,
    unsubscribe,
    tags: tagsOf(fields['tags'], faults),
    replyTo: mailboxesOf(fields['reply_to'], 'reply_to', REPLY_TO_MAX, faults),
    scheduledAt: scheduleOf(fields['scheduled_at'], nowMs, faults),
    template: null,
  };
  if (from !== null && faults.found.length === 0) return { ...draft, from };
  const sound = <T>(path: string, values: T[]): T[] => (faults.has(path) ? [] : values);
  return {
    faults: faults.found,
    from,
    to: sound('to', to),
    cc: sound('cc', cc),
    bcc: sound('bcc', bcc),
    replyTo: sound('reply_to', draft.replyTo),
    attachments: sound('attachments', attachments),
    unsubscribe,
  };
}

const EMPTY = { from: null, to: [], cc: [], bcc: [], replyTo: [], attachments: [], unsubscribe: null };

/** Returns the recipients without duplicates. Keeps only the first field in which an address occurs. */
export function recipientsOf({
  to,
  cc,
  bcc,
}: Pick<EmailDraft, 'to' | 'cc' | 'bcc'>): { address: string; key: string; kind: 'to' | 'cc' | 'bcc' }[] {
  const seen = new Set<string>();
  const all = (['to', 'cc', 'bcc'] as const).flatMap((kind) =>
    ({ to, cc, bcc })[kind].map(({ address }) => ({ address, key: suppressionKey(address), kind })),
  );
  return all.filter(({ key }) => !seen.has(key) && seen.add(key));
}

function mailboxOf(value: unknown, path: string, faults: Faults): Mailbox | null {
  if (typeof value !== 'string')
    return faults.add(
      path,
      value === undefined ? 'is required' : 'must be an address such as "Shop <shop@example.com>"',
    );
  const mailbox = parseMailbox(value, 'international');
  return 'refusal' in mailbox ? faults.add(path, mailbox.refusal) : mailbox;
}

function mailboxesOf(value: unknown, path: string, max: number, faults: Faults): Mailbox[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return [mailboxOf(value, path, faults)].filter((mailbox) => mailbox !== null);
  if (!Array.isArray(value)) return faults.add(path, 'must be an address, or a list of addresses') ?? [];
  if (value.length > max) return faults.add(path, `must have at most ${max} addresses, and has ${value.length}`) ?? [];
  return value.flatMap((entry, i) => mailboxOf(entry ?? '', `${path}.${i}`, faults) ?? []);
}

function subjectOf(value: unknown, faults: Faults): string {
  if (typeof value !== 'string')
    return faults.add('subject', value === undefined ? 'is required' : 'must be a string') ?? '';
  if (value.length > SUBJECT_CHARACTERS_MAX)
    faults.add('subject', `must have at most ${SUBJECT_CHARACTERS_MAX} characters`);
  if (CONTROL.test(value)) faults.add('subject', 'must have no line breaks and no control characters');
  return value;
}

function scheduleOf(value: unknown, nowMs: number, faults: Faults): Date | null {
  if (value === undefined) return null;
  if (typeof value !== 'string') return faults.add('scheduled_at', 'must be a string');
  const read = readSchedule(value, nowMs);
  return 'fault' in read ? faults.add('scheduled_at', read.fault) : new Date(read.atMs);
}

function bodyOf(value: unknown, path: string, faults: Faults): string | null {
  if (value === undefined) return null;
  if (typeof value !== 'string') return faults.add(path, 'must be a string');
  if (Buffer.byteLength(value) > TEXT_BYTES_MAX) return faults.add(path, `must have at most ${TEXT_BYTES_MAX} bytes`);
  if (value.includes('\0') || UNWELL.test(value))
    return faults.add(path, 'must have no NUL and no half of a surrogate pair');
  return value;
}

function headersOf(value: unknown, faults: Faults): Record<string, string> {
  if (value === undefined) return {};
  if (isRecord(value) && Object.keys(value).length > HEADERS_MAX) return faults.add('headers', HEADERS_RULE) ?? {};
  if (!isRecord(value) || !Object.values(value).every((each) => typeof each === 'string'))
    return faults.add('headers', 'must be an object of strings') ?? {};
  faults.found.push(...mailHeaderFaults(value as Record<string, string>), ...placeholderFaults(value));
  return value as Record<string, string>;
}

function tagsOf(value: unknown, faults: Faults): Tag[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return faults.add('tags', 'must be a list of {name, value}') ?? [];
  if (value.length > TAGS_MAX) return faults.add('tags', `must have at most ${TAGS_MAX} entries`) ?? [];
  return value.flatMap((tag: unknown, i) => {
    const { name, value: text, ...unknown } = isRecord(tag) ? tag : {};
    if (
      typeof name === 'string' &&
      typeof text === 'string' &&
      TAG.test(name) &&
      TAG.test(text) &&
      Object.keys(unknown).length === 0
    )
      return [{ name, value: text }];
    return faults.add(`tags.${i}`, 'must be {name, value}, each of 1 to 256 letters, digits, "_" and "-"') ?? [];
  });
}

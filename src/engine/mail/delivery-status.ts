import { headersOf } from './mime-parts.js';
import { classifyReply, cleanReply } from './smtp-reply.js';
import { replyCodeIn, statusIn, statusOfField } from './status-codes.js';

export interface ReportedRecipient {
  /** Addresses of the recipient: the original address first, then the final one. At least one is present. */
  addresses: readonly string[];
  outcome: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** Status code of RFC 3463, such as `5.1.1`. Null when there is none. */
  status: string | null;
  /** For failures: whether the server permanently rejected the address. False when in doubt. */
  isPermanent: boolean;
  /** Cleaned text of the server's reply, at most 1 KB. */
  detail: string | null;
}

type Outcome = ReportedRecipient['outcome'];

const RECIPIENTS_MAX = 100;
const OUTCOMES: ReadonlySet<string> = new Set<Outcome>(['failed', 'delayed', 'delivered', 'relayed', 'expanded']);
const BY_CLASS: Readonly<Record<string, Outcome>> = { 2: 'delivered', 4: 'delayed', 5: 'failed' };

/** Returns at most 100 recipients of a message/delivery-status part (RFC 3464): fields between empty lines. */
export function recipientsOfStatus(text: string): ReportedRecipient[] {
  const recipients: ReportedRecipient[] = [];
  for (let rest = text.replace(/^\s+/, ''); rest !== '' && recipients.length < RECIPIENTS_MAX;) {
    const { headers, rest: end } = headersOf(rest);
    const recipient = recipientOf(new Map(headers));
    if (recipient !== null) recipients.push(recipient);
    // Skips a whole line that is not a field. Skipping one character at a time takes most of a minute for a megabyte.
    rest = rest.slice(end > 0 ? end : rest.indexOf('\n') + 1 || rest.length).replace(/^\s+/, '');
  }
  return recipients;
}

/**
 * Returns whether the server rejected the address, and not the message or its sender. `status` is the status code in
 * the report.
 */
export function refusesAddress(status: string | null, said: string): boolean {
  const reply = replyCodeIn(said);
  // The enhanced code in the text takes precedence over `status`, because Sendmail reports 5.3.0 by default. A text
  // without a reply code is not the reply of a server, so a general code (450 or 554) is assumed.
  const text =
    reply === null
      ? `${status ?? ''} ${said}`
      : `${reply.code} ${statusIn(said) !== null || status === null ? '' : status} ${said.slice(reply.end).replace(/^[ \-:#]{1,5}/, '')}`;
  const assumed = status?.startsWith('4') === true ? 450 : 554;
  return (
    classifyReply({
      stage: 'rcpt',
      code: reply?.code ?? assumed,
      text: text
        .replace(/\s+/g, ' ')
        .replace(/(?<![\w.])5\.3\.0(?![\w.])/, '5.0.0')
        .trim(),
      recipients: 1,
    }).outcome === 'bounced'
  );
}

function recipientOf(fields: ReadonlyMap<string, string>): ReportedRecipient | null {
  const addresses = [
    ...new Set(
      ['original-recipient', 'final-recipient', 'x-actual-recipient'].map((name) => addressOf(fields.get(name) ?? '')),
    ),
  ].filter((address) => address !== '');
  if (addresses.length === 0) return null;
  const said = fields.get('diagnostic-code') ?? '';
  const status = statusOfField(fields.get('status') ?? '');
  const action = /^[a-z]+/i.exec(fields.get('action') ?? '')?.[0].toLowerCase() ?? '';
  const outcome = OUTCOMES.has(action) ? (action as Outcome) : (BY_CLASS[status?.[0] ?? '5'] ?? 'failed');
  const detail = cleanReply(said.replace(/^[\w-]{1,20}\s{0,5};\s{0,5}/, ''));
  const named = [status, statusIn(said)].find((one) => one !== null && !/\.0\.0$/.test(one)) ?? status;
  return {
    addresses,
    outcome,
    status: named,
    isPermanent: outcome === 'failed' && refusesAddress(named, detail),
    detail: detail === '' ? null : detail,
  };
}

/** Returns the first address in a text, or null. Begins only at the start of a word, so that it takes linear time. */
export function addressIn(text: string): string | null {
  return /(?<![^\s<>()[\]"',;:])[^\s<>()[\]"',;:]{1,200}@[^\s<>()[\]"',;:]{1,253}/.exec(text)?.[0] ?? null;
}

function addressOf(value: string): string {
  return addressIn(value.slice(value.indexOf(';') + 1)) ?? '';
}

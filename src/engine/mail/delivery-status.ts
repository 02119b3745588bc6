import { headersOf } from './mime-parts.js';
import { classifyReply, cleanReply } from './smtp-reply.js';

export interface ReportedRecipient {
  /** The original address first, then the final address. Contains at least one of them. */
  addresses: readonly string[];
  outcome: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** Status code of RFC 3463, such as `5.1.1`. Null when there is none. */
  status: string | null;
  /** For failures: whether the address was rejected permanently. False when in doubt. */
  isPermanent: boolean;
  /** Cleaned text of the server's reply, at most 1 KB. */
  detail: string | null;
}

type Outcome = ReportedRecipient['outcome'];

const RECIPIENTS_MAX = 100;
const OUTCOMES: ReadonlySet<string> = new Set<Outcome>(['failed', 'delayed', 'delivered', 'relayed', 'expanded']);
const BY_CLASS: Readonly<Record<string, Outcome>> = { 2: 'delivered', 4: 'delayed', 5: 'failed' };
const STATUS = /\b([245]\.\d{1,3}\.\d{1,3})\b/;
const REPLY = /\b([45]\d\d)(?=[ \-:#])/;

/** Parses a message/delivery-status part (RFC 3464): groups of fields between empty lines. At most 100 recipients. */
export function recipientsOfStatus(text: string): ReportedRecipient[] {
  const recipients: ReportedRecipient[] = [];
  for (let rest = text.replace(/^\s+/, ''); rest !== '' && recipients.length < RECIPIENTS_MAX;) {
    const { headers, rest: end } = headersOf(rest);
    const recipient = recipientOf(new Map(headers));
    if (recipient !== null) recipients.push(recipient);
    // Skips a whole line if it is not a field. Skipping by character took most of a minute for one megabyte.
    rest = rest.slice(end > 0 ? end : rest.indexOf('\n') + 1 || rest.length).replace(/^\s+/, '');
  }
  return recipients;
}

/** Returns whether the server rejected the address itself. `status` is the status code in the report. */
export function refusesAddress(status: string | null, said: string): boolean {
  const reply = REPLY.exec(said);
  const code = reply?.[1] ?? null;
  // Sendmail uses 5.3.0 as its default code, so it is replaced. A text without a reply code is not from a server, so it
  // is not treated as a bare rejection.
  const text =
    reply === null || code === null
      ? `${status ?? ''} ${said}`
      : `${code} ${STATUS.test(said) || status === null ? '' : status} ${said.slice(reply.index + 3).replace(/^[ \-:#]{1,5}/, '')}`;
  const assumed = status?.startsWith('4') === true ? 450 : 554;
  return (
    classifyReply({
      stage: 'rcpt',
      code: code === null ? assumed : Number(code),
      text: text
        .replace(/\s+/g, ' ')
        .replace(/\b5\.3\.0\b/, '5.0.0')
        .trim(),
      recipients: 1,
    }).outcome === 'bounced'
  );
}

export function statusIn(text: string): string | null {
  return STATUS.exec(text)?.[1] ?? null;
}

function recipientOf(fields: ReadonlyMap<string, string>): ReportedRecipient | null {
  const addresses = [
    ...new Set(
      ['original-recipient', 'final-recipient', 'x-actual-recipient'].map((name) => addressOf(fields.get(name) ?? '')),
    ),
  ].filter((address) => address !== '');
  if (addresses.length === 0) return null;
  const said = fields.get('diagnostic-code') ?? '';
  const status = statusIn(fields.get('status') ?? '');
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

function addressOf(value: string): string {
  return /[^\s<>()[\]"',;:]{1,200}@[^\s<>()[\]"',;:]{1,253}/.exec(value.slice(value.indexOf(';') + 1))?.[0] ?? '';
}

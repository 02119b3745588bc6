import { headersOf } from './mime-parts.js';
import { classifyReply, cleanReply } from './smtp-reply.js';

/** What a report says of one recipient. */
export interface ReportedRecipient {
  /** The addresses that it is named by: as it was written to first, then as it was last. At least one. */
  addresses: readonly string[];
  outcome: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** RFC 3463, such as `5.1.1`; null when none is named. */
  status: string | null;
  /** Of what failed: whether the address was refused, for good. In doubt it was not. */
  isPermanent: boolean;
  /** What was said, cleaned, at most 1 KB. */
  detail: string | null;
}

type Outcome = ReportedRecipient['outcome'];

const RECIPIENTS_MAX = 100;
const OUTCOMES: ReadonlySet<string> = new Set<Outcome>(['failed', 'delayed', 'delivered', 'relayed', 'expanded']);
const BY_CLASS: Readonly<Record<string, Outcome>> = { 2: 'delivered', 4: 'delayed', 5: 'failed' };
const STATUS = /\b([245]\.\d{1,3}\.\d{1,3})\b/;
const REPLY = /\b([45]\d\d)(?=[ \-:#])/;

/** The recipients of a message/delivery-status part (RFC 3464): groups of fields, with empty lines between them. At most 100. */
export function recipientsOfStatus(text: string): ReportedRecipient[] {
  const recipients: ReportedRecipient[] = [];
  for (let rest = text.replace(/^\s+/, ''); rest !== '' && recipients.length < RECIPIENTS_MAX;) {
    const { headers, rest: end } = headersOf(rest);
    const recipient = recipientOf(new Map(headers));
    if (recipient !== null) recipients.push(recipient);
    // A line that is no field is passed as a whole: character by character, a megabyte of it took most of a minute.
    rest = rest.slice(end > 0 ? end : rest.indexOf('\n') + 1 || rest.length).replace(/^\s+/, '');
  }
  return recipients;
}

/** Whether what a server said refuses the address itself, for good; `status` is what a report made of it. */
export function refusesAddress(status: string | null, said: string): boolean {
  const reply = REPLY.exec(said);
  const code = reply?.[1] ?? null;
  // Sendmail's 5.3.0 is what it has where nothing else fits. What has no code was not said by a server: nothing of it counts as a bare refusal.
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

/** The enhanced status code that stands in a text. */
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

/** `rfc822; <local@domain>`, with or without what is around it. */
function addressOf(value: string): string {
  return /[^\s<>()[\]"',;:]{1,200}@[^\s<>()[\]"',;:]{1,253}/.exec(value.slice(value.indexOf(';') + 1))?.[0] ?? '';
}

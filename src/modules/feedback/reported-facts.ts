import { suppressionKey } from '#engine/mail/addresses.js';
import type { ReportedRecipient } from '#engine/mail/delivery-status.js';
import type { MailReport } from '#engine/mail/reports.js';
import type { EmailFact } from '#modules/email/contract.js';

export interface ReportedFacts {
  facts: readonly EmailFact[];
  /** True if the report names only addresses that are not recipients of the email. */
  isOfStrangers: boolean;
}

const NOTHING: ReportedFacts = { facts: [], isOfStrangers: false };
const STRANGERS: ReportedFacts = { facts: [], isOfStrangers: true };

/**
 * Returns the delivery events of a report. Ignores addresses that are not recipients: if a recipient forwards to an
 * address that rejects the mail, the recipient's own address is still valid. A report without addresses applies only if
 * the email has one recipient.
 */
export function reportedFacts(report: MailReport, recipients: readonly string[]): ReportedFacts {
  if (report.kind === 'complaint') return complaintFacts(report, recipients);
  if (report.kind !== 'bounce') return NOTHING;
  const byKey = keysOf(recipients);
  if (report.recipients.length === 0) {
    const [only] = recipients;
    if (report.unnamed === null || only === undefined || recipients.length > 1) return STRANGERS;
    return {
      facts: [
        factOf(only, {
          addresses: [only],
          outcome: report.unnamed,
          status: null,
          isPermanent: false,
          detail: null,
        }) as EmailFact,
      ],
      isOfStrangers: false,
    };
  }
  const known = report.recipients.flatMap((reported) => {
    const address = reported.addresses
      .map((each) => byKey.get(suppressionKey(each)))
      .find((each) => each !== undefined);
    return address === undefined ? [] : [{ address, reported }];
  });
  if (known.length === 0) return STRANGERS;
  return {
    facts: known.map(({ address, reported }) => factOf(address, reported)).filter((fact) => fact !== null),
    isOfStrangers: false,
  };
}

function complaintFacts({ complaint, complainants }: MailReport, recipients: readonly string[]): ReportedFacts {
  const byKey = keysOf(recipients);
  const named = complainants
    .map((address) => byKey.get(suppressionKey(address)))
    .filter((address) => address !== undefined);
  // Most complaint reports hide the address of the recipient. Such a report applies only if the email has one
  // recipient.
  const of = named.length > 0 ? named : recipients.length === 1 ? recipients : [];
  if (of.length === 0) return STRANGERS;
  const facts = of.map((address): EmailFact => ({
    address,
    kind: 'complained',
    subtype: complaint,
    detail: null,
    isPermanent: true,
  }));
  return { facts, isOfStrangers: false };
}

/**
 * Returns a delivery event. Null if another server relays or expands the mail, because its result may never be
 * reported.
 */
function factOf(address: string, { outcome, status, isPermanent, detail }: ReportedRecipient): EmailFact | null {
  if (outcome === 'failed')
    return {
      address,
      kind: 'bounced',
      subtype: status ?? (isPermanent ? 'permanent' : 'temporary'),
      detail,
      isPermanent,
    };
  if (outcome === 'delayed') return { address, kind: 'deferred', subtype: 'delayed', detail, isPermanent: false };
  return outcome === 'delivered' ? { address, kind: 'delivered', subtype: null, detail, isPermanent: false } : null;
}

const keysOf = (recipients: readonly string[]): ReadonlyMap<string, string> =>
  new Map(recipients.map((address) => [suppressionKey(address), address]));

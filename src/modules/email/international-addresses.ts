import { isInternational } from '#engine/mail/addresses.js';
import { type Fault, invalid } from '#kernel/errors.js';
import type { EmailDraft } from './email-draft.js';
import type { MailTransport } from './transport.contract.js';

type Addresses = Pick<EmailDraft, 'from' | 'to' | 'cc' | 'bcc' | 'replyTo'>;

const MESSAGE =
  'The part before the "@" has characters outside ASCII, which the mail server of EMAIL_TRANSPORT does not accept (it does not offer SMTPUTF8).';

/**
 * Throws 422 for addresses with characters outside ASCII if the next mail server is known not to accept them. If that
 * is unknown, the email is accepted, and the transport may report a permanent failure later.
 */
export async function refuseUnlessDeliverable(draft: Addresses, transport: MailTransport): Promise<void> {
  const faults = faultsOf(draft);
  if (faults.length > 0 && (await transport.offersSmtpUtf8()) === false) throw invalid(faults);
}

function faultsOf({ from, to, cc, bcc, replyTo }: Addresses): Fault[] {
  const lists = { to, cc, bcc, reply_to: replyTo };
  return [
    ...(isInternational(from.address) ? [{ path: 'from', message: MESSAGE }] : []),
    ...Object.entries(lists).flatMap(([field, mailboxes]) =>
      mailboxes.flatMap(({ address }, i) =>
        isInternational(address) ? [{ path: `${field}.${i}`, message: MESSAGE }] : [],
      ),
    ),
  ];
}

import { type Id, showId } from '#kernel/ids.js';
import type { NewEvent } from '#modules/ledger/accept.contract.js';
import type { NewEmail } from './emails.store.js';

/** The type of the event that an email is. */
export const EMAIL_EVENT_TYPE = 'email.send';

/** The event of an email, which goes to the target of its environment's emails. */
export function emailEvent(
  email: NewEmail,
  targetId: Id,
  { traceparent, idempotency }: Pick<NewEvent, 'traceparent' | 'idempotency'>,
): NewEvent {
  const { environmentId, id, expiresOnDay } = email;
  const payload = payloadOf(email);
  return {
    environmentId,
    id,
    expiresOnDay,
    targetId,
    url: null,
    eventType: EMAIL_EVENT_TYPE,
    headers: null,
    traceparent,
    idempotency,
    payload,
    payloadBytes: Buffer.byteLength(payload),
    pulled: false,
    ratePerSecond: null,
    concurrency: null,
  };
}

/** What the list of events shows of it: whom it is from and to, and not what it says. */
function payloadOf({ id, sender, to, cc, bcc, replyTo, subject, messageId }: NewEmail): string {
  return JSON.stringify({
    email: showId('evt', id),
    from: sender,
    to,
    cc,
    bcc,
    reply_to: replyTo,
    subject,
    message_id: messageId,
  });
}

import { type Id, showId } from '#kernel/ids.js';
import type { NewEvent } from '#modules/ledger/accept.contract.js';
import type { NewEmail } from './emails.store.js';

export const EMAIL_EVENT_TYPE = 'email.send';

export function emailEvent(
  email: NewEmail,
  targetId: Id,
  { traceparent, idempotency, row }: Pick<NewEvent, 'traceparent' | 'idempotency' | 'row'>,
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
    ...(row !== undefined && { row }),
  };
}

/** Returns the payload of the email's event. Omits the email's content, because the event list shows payloads. */
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

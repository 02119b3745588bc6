import { type MessageKey, t, word } from '../kit/messages/t';
import type { EventDetail } from './event-queries';
import { formatResponseStatus } from './response-status';
import { isAcknowledged } from './timeline';

/** Returns the key of the message that explains an event's state, with the message's parameters. */
export function explanationOf({
  status,
  deliveries,
  attempts,
  note,
  event_type,
}: Pick<EventDetail, 'status' | 'deliveries' | 'attempts' | 'note' | 'event_type'>): {
  key: MessageKey;
  values: Record<string, string | number>;
} | null {
  const last = attempts.at(-1);
  const answer = answerOf({ event_type }, last);
  switch (status) {
    case 'delivered':
      return attempts.length === 0
        ? { key: isAcknowledged({ deliveries }) ? 'explain.acknowledged' : 'explain.available', values: {} }
        : { key: 'explain.delivered', values: { count: attempts.length } };
    case 'dlq':
      return { key: 'explain.dlq', values: { count: attempts.length, answer } };
    case 'failed':
      return { key: 'explain.failed', values: { reason: `reason:${failureReason(deliveries)}` } };
    case 'retrying':
      if (deliveries.some(({ circuit }) => circuit !== null)) return { key: 'explain.circuit', values: {} };
      return last === undefined
        ? { key: 'explain.waiting', values: {} }
        : { key: 'explain.retrying', values: { count: attempts.length, answer } };
    case 'quarantined':
    case 'parked':
    case 'ignored':
      return note ? null : { key: `explain.${status}`, values: {} };
    default:
      return null;
  }
}

function answerOf(event: { event_type: string }, last: EventDetail['attempts'][number] | undefined): string {
  if (last === undefined) return '';
  return last.status === null ? `error:${last.error ?? ''}` : formatResponseStatus(event, last.status);
}

/**
 * Returns why a delivery failed. Ignores a delivery that a replay replaced, because the result of the replay counts
 * instead.
 */
function failureReason(deliveries: EventDetail['deliveries']): string {
  return deliveries.find(({ status, reason }) => status === 'failed' && reason !== 'superseded')?.reason ?? '';
}

/** Returns the explanation of an event's state, in the user's language. */
export function explain(event: EventDetail): string | null {
  const found = explanationOf(event);
  if (found === null) return null;
  const values = Object.fromEntries(
    Object.entries(found.values).map(([name, value]) => {
      const [, prefix, said = ''] = /^(error|reason):(.*)$/.exec(String(value)) ?? [];
      return [name, prefix === undefined ? value : word(prefix as 'error' | 'reason', said)];
    }),
  );
  return t(found.key, values);
}

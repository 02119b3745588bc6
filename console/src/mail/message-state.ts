import type { Schemas } from '../api/client';

/** Returns the state of a received message, in the words of the message list. */
export function messageStateOf(status: string): Schemas['ReceivedMessageItem']['state'] {
  return status === 'received' || status === 'quarantined' ? status : 'processed';
}

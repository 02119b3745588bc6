import { soleSender } from './allowed-senders.js';
import { type HeadField, valuesOf } from './message-head.js';

/**
 * Whom a message says it is from. `several`: more than one From header, or more than one mailbox in it, or one that can be read in
 * two ways. Programs differ in which of them they show, so that what is checked need not be what a person sees.
 */
export type Author = { kind: 'one'; address: string } | { kind: 'missing' } | { kind: 'several' };

/** Reads the From headers (RFC 5322, section 3.6.2): exactly one, with exactly one mailbox, or nobody. */
export function authorOf(fields: readonly HeadField[]): Author {
  const values = valuesOf(fields, 'from');
  if (values.every((value) => value === '')) return { kind: 'missing' };
  const address = soleSender(values);
  return address === null ? { kind: 'several' } : { kind: 'one', address };
}

/** Whether a machine sent it by itself (RFC 3834): such a message is not to be answered by another machine. */
export function isAutoSubmitted(fields: readonly HeadField[]): boolean {
  return (
    valuesOf(fields, 'auto-submitted').some((value) => !/^no\s*(?:;|$)/i.test(value)) ||
    valuesOf(fields, 'precedence').some((value) => /^(?:bulk|junk|auto_reply)$/i.test(value)) ||
    fields.some(({ name }) => name === 'x-autoreply' || name === 'x-autorespond')
  );
}

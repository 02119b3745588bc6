import { soleSender } from './allowed-senders.js';
import { HEAD_BYTES_MAX, headEndOf, type HeadField, valuesOf } from './message-head.js';

/**
 * Author of a message. `several` includes an ambiguous mailbox. Mail programs differ in which of several authors they
 * display, so the verified author might not be the displayed one.
 */
export type Author = { kind: 'one'; address: string } | { kind: 'missing' } | { kind: 'several' };

/** Size of a line end and the name of a From header, which the limit may split. */
const FROM_BYTES = 6;

/**
 * Returns the author. The kind is `one` only for a single From header (RFC 5322, section 3.6.2) with a single mailbox.
 */
export function authorOf(fields: readonly HeadField[]): Author {
  const values = valuesOf(fields, 'from');
  if (values.every((value) => value === '')) return { kind: 'missing' };
  const address = soleSender(values);
  return address === null ? { kind: 'several' } : { kind: 'one', address };
}

/**
 * Returns the author of a message. `fields` are the fields of its first 256 KB. A further From header behind them makes
 * the author ambiguous, because other programs may read it.
 */
export function authorIn(raw: Buffer, fields: readonly HeadField[]): Author {
  const head = raw.subarray(0, HEAD_BYTES_MAX);
  const author = authorOf(fields);
  if (author.kind !== 'one' || raw.length <= HEAD_BYTES_MAX || headEndOf(head) !== -1) return author;
  const end = headEndOf(raw);
  const rest = raw.toString('latin1', HEAD_BYTES_MAX - FROM_BYTES, end === -1 ? raw.length : end);
  return /[\r\n]from[ \t]*:/i.test(rest) ? { kind: 'several' } : author;
}

/** Returns whether the message is automatic (RFC 3834). Automatic replies to it are not allowed. */
export function isAutoSubmitted(fields: readonly HeadField[]): boolean {
  return (
    valuesOf(fields, 'auto-submitted').some((value) => !/^no\s*(?:;|$)/i.test(value)) ||
    valuesOf(fields, 'precedence').some((value) => /^(?:bulk|junk|auto_reply)$/i.test(value)) ||
    fields.some(({ name }) => name === 'x-autoreply' || name === 'x-autorespond')
  );
}

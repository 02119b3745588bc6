import { isAscii } from 'node:buffer';
import type { Submission } from '#modules/email/transport.contract.js';

/**
 * The envelope in nodemailer's format. nodemailer announces 8-bit data (`BODY=8BITMIME`) and the size (`SIZE=`) if the
 * server offers it, and does not send a message that exceeds the server's limit.
 */
export type SmtpEnvelope = {
  from: string | false;
  to: string[];
  use8BitMime: boolean;
  size: number;
};

/**
 * Returns the envelope. Messages that Posthorn composes are 7-bit. Forwarded and submitted messages may have 8-bit data.
 */
export function envelopeOf({ raw, mailFrom, recipients }: Submission): SmtpEnvelope {
  const from = mailFrom(recipients);
  return { from: from === '' ? false : from, to: [...recipients], use8BitMime: !isAscii(raw), size: raw.length };
}

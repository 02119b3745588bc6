import type { Buffer } from 'node:buffer';

/** Maximum length of a line without its CRLF (RFC 5322, section 2.1.1). */
export const LINE_BYTES_MAX = 998;

const CR = 0x0d;
const LF = 0x0a;

/**
 * Returns the fault of a message's lines as a sentence, or null. A bare CR or LF is a fault, because servers disagree
 * about whether it ends a message (SMTP smuggling). A line of more than 998 bytes is a fault, because servers may cut
 * or fold it.
 */
export function lineFaultOf(bytes: Buffer): string | null {
  let start = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, start)) {
    if (bytes[at - 1] !== CR) return 'A line of the message ends in LF alone. Lines end in CRLF.';
    if (at - 1 - start > LINE_BYTES_MAX)
      return `A line of the message is longer than ${LINE_BYTES_MAX} bytes. Encode the part with quoted-printable or base64.`;
    start = at + 1;
  }
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1))
    if (bytes[at + 1] !== LF) return 'A line of the message ends in CR alone. Lines end in CRLF.';
  return null;
}

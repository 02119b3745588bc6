/**
 * Pattern of an enhanced status code (RFC 3463) in a text. Does not match a version or section number, or digits of an
 * IP address, a network, a host name, a URL or a file name. RFC 3463 defines the subjects 0 to 7.
 */
const STATUS =
  /(?:(?<=(?<![\w.-])[245]\d\d-)|(?<![\w.+@/-])(?<!\b(?:version|release|build|section|sec\.|rfc|postfix|exim|sendmail|dovecot|mailman|domino)[ :#]{1,3}))[245]\.[0-7]\.\d{1,3}(?![\w]|\.\w|[-/]\d)/i;
const STATUS_FIELD = /^\s*([245]\.\d{1,3}\.\d{1,3})(?![\w.])/;

/**
 * Pattern of a reply code (RFC 5321, section 4.2) in a text. Does not match an amount, a port, or digits of an IP
 * address, a host name or an email address. Some servers use codes that no RFC defines, such as 571.
 */
const REPLY =
  /(?<![\w.+@/-])(?<!(?<![a-z])[\da-f]{1,4}:|[\]:]:)(?<!\b(?:line|port|size|limit|pid) )[45]\d\d(?=[ \-:#])(?! (?:seconds?|minutes?|hours?|days?|bytes?|octets?|[kmg]i?b|lines?|recipients?|messages?|characters?|times)\b)(?![\w.+-]{1,64}@)/i;

/** Returns the first enhanced status code of a text, such as `5.1.1`. Null if there is none. */
export function statusIn(text: string): string | null {
  return STATUS.exec(text)?.[0] ?? null;
}

/** Returns the code in the `Status` field of a report (RFC 3464, section 2.3.4). Null if there is none. */
export function statusOfField(value: string): string | null {
  return STATUS_FIELD.exec(value)?.[1] ?? null;
}

/** Returns the first reply code of a text, and the position after it. Null if there is none. */
export function replyCodeIn(text: string): { code: number; end: number } | null {
  const found = REPLY.exec(text);
  return found === null ? null : { code: Number(found[0]), end: found.index + found[0].length };
}

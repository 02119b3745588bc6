/** A field name with its colon (RFC 5322, sections 2.2 and 4.5), a folded line, or an empty line. */
const IN_HEAD = /^(?:[\x21-\x39\x3b-\x7e]+[ \t]*:|[ \t]|\r*\n?$)/;
const FOLDED = /^[ \t]/;
/** First line of a message in an mbox file, or of an HTTP request. The parser omits it from the header fields. */
const PREAMBLE = /^(?:From|POST) /i;
/** Fields of a message that no body is likely to contain before its first empty line. */
const MESSAGE_FIELD =
  /^(?:from|sender|reply-to|to|b?cc|date|subject|message-id|in-reply-to|references|received|return-path|delivered-to|mime-version|dkim-signature|authentication-results|(?:x|arc|content|list|resent)-[\w-]+)[ \t]*:/i;
/** Fields of a part. All other fields of a part have no meaning (RFC 2046, section 5.1). */
const PART_FIELD = /^content-[\w-]+[ \t]*:/i;

/**
 * Finds the start of the body in a header section without an empty line before the body. The body starts at the first
 * line that is no header field. If a known field follows this line, the line is an error in the header section instead.
 *
 * Returns the position of the body and the number of header fields before the body. Returns null if `head` contains no
 * line of the body. Each character of `head` stands for one byte.
 */
export function bodyStartIn(head: string, isMessage: boolean): { at: number; fields: number } | null {
  const known = isMessage ? MESSAGE_FIELD : PART_FIELD;
  let found: { at: number; fields: number } | null = null;
  let fields = 0;
  for (let at = 0, end = 0; at < head.length; at = end) {
    end = head.indexOf('\n', at) + 1 || head.length;
    const line = head.slice(at, end);
    const isPreamble = at === 0 && PREAMBLE.test(line);
    if (known.test(line)) found = null;
    else if (!IN_HEAD.test(line) && !(isPreamble && isMessage)) found ??= { at, fields };
    if (!isPreamble && (at === 0 || !FOLDED.test(line))) fields += 1;
  }
  return found;
}

import { mailboxesByGrammar } from './address-syntax.js';
import type { Mailbox } from './addresses.js';
import { cleanLine } from './clean-text.js';
import { decodeWords } from './encoded-words.js';

/** Maximum number of addresses. The rest of the list is ignored. */
const MAILBOXES_MAX = 1_000;
const NAME_BYTES_MAX = 1_024;

/**
 * Returns the mailboxes of an address header (RFC 5322, section 3.4), in linear time. Tolerates invalid syntax and
 * skips entries without an address. A name has no control characters and at most `NAME_BYTES_MAX` bytes. Use the result
 * only for display, never to decide where mail is sent.
 */
export function mailboxesIn(header: string): Mailbox[] {
  const mailboxes = mailboxesByGrammar(header)?.slice(0, MAILBOXES_MAX) ?? mailboxesInInvalid(header);
  // An encoded word may contain NUL, which PostgreSQL refuses, and line feeds.
  return mailboxes.map(({ name, address }) => ({ name: cleanLine(name, NAME_BYTES_MAX).text, address }));
}

function mailboxesInInvalid(header: string): Mailbox[] {
  const mailboxes: Mailbox[] = [];
  let entry = new Entry();
  const end = (): void => {
    const mailbox = entry.mailbox();
    if (mailbox !== null) mailboxes.push(mailbox);
    entry = new Entry();
  };
  for (let at = 0; at < header.length && mailboxes.length < MAILBOXES_MAX; at += 1) {
    const character = header[at] as string;
    if (entry.isOpen || !',;:'.includes(character)) at += entry.add(character, header[at + 1]);
    // The text before a colon is the name of a group (`Team: a@example.com;`), not an address.
    else if (character === ':') entry = new Entry();
    else end();
  }
  if (mailboxes.length < MAILBOXES_MAX) end();
  return mailboxes;
}

/** One entry of an address list. It receives the text of the list character by character. */
class Entry {
  private phrase = '';
  private comment = '';
  private address: string | null = null;
  private state: 'plain' | 'quoted' | 'bracketed' = 'plain';
  private depth = 0;

  /** True inside of quotes, angle brackets or a comment, where separators have no meaning. */
  get isOpen(): boolean {
    return this.state !== 'plain' || this.depth > 0;
  }

  /** Adds a character to the entry. Returns how many of the following characters were consumed as well. */
  add(character: string, next: string | undefined): number {
    if (character === '\\' && next !== undefined && (this.state === 'quoted' || this.depth > 0)) {
      this.append(next);
      return 1;
    }
    if (this.depth > 0) this.inComment(character);
    else if (this.state === 'quoted') this.inQuotes(character);
    else if (this.state === 'bracketed') this.inBrackets(character);
    else this.inPlain(character);
    return 0;
  }

  /** Returns the mailbox, or null if the entry has no address. */
  mailbox(): Mailbox | null {
    const phrase = this.phrase.trim();
    const address = (this.address ?? phrase).trim();
    if (!/^[^\s@]+@[^\s@]+$/.test(address)) return null;
    const name = this.address === null ? this.comment.trim() : phrase;
    return { name: decodeWords(name), address };
  }

  private append(character: string): void {
    if (this.depth > 0) this.comment += character;
    else this.phrase += character;
  }

  private inComment(character: string): void {
    if (character === '(') this.depth += 1;
    else if (character === ')') this.depth -= 1;
    if (this.depth > 0) this.comment += character;
  }

  private inQuotes(character: string): void {
    if (character === '"') this.state = 'plain';
    else this.phrase += character;
  }

  private inBrackets(character: string): void {
    if (character === '>') this.state = 'plain';
    else this.address += character;
  }

  private inPlain(character: string): void {
    if (character === '"') this.state = 'quoted';
    else if (character === '(') this.depth = 1;
    else if (character === '<') {
      this.state = 'bracketed';
      this.address = '';
    } else this.phrase += character;
  }
}

import type { Mailbox } from './addresses.js';
import { decodeWords } from './encoded-words.js';

/** The members of a string that the parser uses. A test passes an object that counts the characters read. */
type AddressText = Pick<string, 'length' | 'charAt' | 'slice'>;

/** A character of an atom (RFC 5322, section 3.2.3). Also allows characters outside ASCII (RFC 6532, section 3.2). */
const IN_ATOM = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\0-\x7f]/;
const NOT_IN_ATOM = /[^A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\uffff-]/;
const WHITE_SPACE = /[ \t\r\n]/;
const ENCODED_WORD = /=\?[^?]*\?[bq]\?/i;

/**
 * Returns the mailboxes of an address list (RFC 5322, section 3.4), including obsolete syntax (section 4.4) and members
 * of groups. Returns null for invalid syntax. Omits comments and routes. If an address has no display name, the comment
 * next to it becomes the name. Takes linear time.
 */
export function mailboxesByGrammar(header: AddressText): Mailbox[] | null {
  const mailboxes: Mailbox[] = [];
  try {
    new AddressReader(header).list(mailboxes, false);
    return mailboxes;
  } catch (error) {
    if (error instanceof AddressSyntaxError) return null;
    throw error;
  }
}

class AddressSyntaxError extends Error {}

/** Words that may be a display name or a local part. The character that follows them decides. */
interface Words {
  phrase: string;
  /** Local part, quoted if necessary. Null if the words cannot be a local part. */
  local: string | null;
}

/** Recursive-descent parser without backtracking. Its position only moves forward. */
class AddressReader {
  private at = 0;

  constructor(private readonly text: AddressText) {}

  /** Reads a list up to the end of the text, or a group's list up to its semicolon. */
  list(mailboxes: Mailbox[], isGroup: boolean): void {
    for (;;) {
      const before = this.skipComments();
      const next = this.peek();
      if (next === ',') this.at += 1;
      else if (next === (isGroup ? ';' : '')) return;
      else {
        this.entry(mailboxes, before, isGroup);
        if (this.peek() !== ',' && this.peek() !== (isGroup ? ';' : '')) throw new AddressSyntaxError();
      }
    }
  }

  private entry(mailboxes: Mailbox[], before: readonly string[], isInGroup: boolean): void {
    const { phrase, local } = this.words();
    const next = this.peek();
    if (next === '@') {
      const { address, after } = this.address(local);
      mailboxes.push(mailboxOf('', [...before, ...after], address));
    } else if (next === '<') {
      const address = this.inBrackets();
      mailboxes.push(mailboxOf(phrase, [...before, ...this.skipComments()], address));
    } else if (next === ':' && phrase !== '' && !isInGroup) {
      this.at += 1;
      this.list(mailboxes, true);
      this.at += 1;
      this.skipComments();
    } else throw new AddressSyntaxError();
  }

  private words(): Words {
    const parts: string[] = [];
    let phrase = '';
    let isLocal = true;
    let isWordNext = true;
    for (let next = this.peek(); next === '"' || next === '.' || IN_ATOM.test(next); next = this.peek()) {
      if (phrase === '' && next === '.') throw new AddressSyntaxError();
      isLocal &&= isWordNext === (next !== '.');
      isWordNext = next === '.';
      const part = next === '"' ? this.quoted('"') : next === '.' ? this.take() : this.atom();
      const end = this.at;
      this.skipComments();
      parts.push(part);
      phrase += this.at > end ? `${part} ` : part;
    }
    return { phrase: phrase.trimEnd(), local: isLocal && !isWordNext ? localPartOf(parts) : null };
  }

  /** Reads the domain after a local part. `after` lists the comments after the address. */
  private address(local: string | null): { address: string; after: string[] } {
    if (local === null) throw new AddressSyntaxError();
    const { domain, after } = this.domain();
    return { address: `${local}@${domain}`, after };
  }

  /** Reads `@` and a domain, which may contain comments and white space around its dots. */
  private domain(): { domain: string; after: string[] } {
    this.expect('@');
    this.skipComments();
    if (this.peek() === '[') return { domain: this.literal(), after: this.skipComments() };
    let domain = this.atom();
    let after = this.skipComments();
    while (this.peek() === '.') {
      this.at += 1;
      this.skipComments();
      domain += `.${this.atom()}`;
      after = this.skipComments();
    }
    if (ENCODED_WORD.test(domain)) throw new AddressSyntaxError();
    return { domain, after };
  }

  private inBrackets(): string {
    this.expect('<');
    this.skipComments();
    if (this.peek() === '@' || this.peek() === ',') this.route();
    const { address } = this.address(this.words().local);
    this.expect('>');
    return address;
  }

  private route(): void {
    while (this.peek() !== ':') {
      if (this.peek() === ',') this.at += 1;
      else this.domain();
      this.skipComments();
    }
    this.at += 1;
    this.skipComments();
  }

  private atom(): string {
    const start = this.at;
    while (IN_ATOM.test(this.peek())) this.at += 1;
    if (this.at === start) throw new AddressSyntaxError();
    return this.text.slice(start, this.at);
  }

  private literal(): string {
    const content = this.quoted(']').replace(/\s+/g, '');
    if (content.includes('[')) throw new AddressSyntaxError();
    return `[${content}]`;
  }

  /** Reads a quoted string or a domain literal, and returns its content without the backslashes of quoted pairs. */
  private quoted(end: '"' | ']'): string {
    let content = '';
    this.at += 1;
    for (let next = this.take(); next !== end; next = this.take()) content += next === '\\' ? this.take() : next;
    return content;
  }

  /** Skips white space and comments. Returns the content of the comments. */
  private skipComments(): string[] {
    const comments: string[] = [];
    for (let next = this.peek(); next === '(' || WHITE_SPACE.test(next); next = this.peek()) {
      if (next === '(') comments.push(this.comment());
      else this.at += 1;
    }
    return comments;
  }

  private comment(): string {
    let content = '';
    this.at += 1;
    for (let depth = 1; ;) {
      const next = this.take();
      if (next === '(') depth += 1;
      else if (next === ')') depth -= 1;
      if (depth === 0) return content.trim();
      content += next === '\\' ? this.take() : next;
    }
  }

  /** Returns the next character, or an empty string at the end. */
  private peek(): string {
    return this.text.charAt(this.at);
  }

  private take(): string {
    const next = this.peek();
    if (next === '') throw new AddressSyntaxError();
    this.at += 1;
    return next;
  }

  private expect(character: string): void {
    if (this.take() !== character) throw new AddressSyntaxError();
  }
}

function mailboxOf(phrase: string, comments: readonly string[], address: string): Mailbox {
  const name = phrase === '' ? comments.join(' ') : phrase;
  return { name: decodeWords(name).trim(), address };
}

function localPartOf(parts: readonly string[]): string {
  const local = parts.join('');
  // An encoded word must not be part of an address (RFC 2047, section 5).
  if (ENCODED_WORD.test(local)) throw new AddressSyntaxError();
  const isPlain = parts.every((part) => part === '.' || (part !== '' && !NOT_IN_ATOM.test(part.replaceAll('.', ''))));
  return isPlain && !/^\.|\.\.|\.$/.test(local) ? local : `"${local.replace(/["\\]/g, '\\$&')}"`;
}

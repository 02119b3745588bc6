import type { Token, TokenKind } from './token';

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'async await break case catch class const continue default delete do else export extends false finally for function ' +
    'if import in instanceof let new null of return static super switch this throw true try typeof undefined var void ' +
    'while with yield'
  ).split(' '),
);
/** Keywords that are values. A slash after them is a division. After other keywords, it begins a regular expression. */
const VALUES: ReadonlySet<string> = new Set(['false', 'null', 'super', 'this', 'true', 'undefined']);
const COMMENT = /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/y;
const STRING = /"(?:[^"\\\n]|\\[^])*("?)|'(?:[^'\\\n]|\\[^])*('?)/y;
const NUMBER = /0[xXbBoO][\da-fA-F_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?/y;
const NAME = /[\p{L}_$#][\p{L}\p{N}_$]*/uy;
const PATTERN = /\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** Text of a template literal, up to its end or its next `${`. */
const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*(`|\$(?=\{)|$)/y;

/** Reads tokens of JavaScript, also of incomplete code. Names and operators are no tokens. */
export function readJavaScript(text: string): Token[] {
  return new JavaScriptReader(text).read();
}

class JavaScriptReader {
  private readonly tokens: Token[] = [];
  private at = 0;
  /** For each open template literal, the brace depth at which it continues. */
  private readonly templates: number[] = [];
  private depth = 0;
  /** Whether the previous token is a value. A slash after a value is a division. */
  private isAfterValue = false;

  constructor(private readonly text: string) {}

  read(): Token[] {
    while (this.at < this.text.length) this.step();
    return this.tokens;
  }

  private step(): void {
    const character = this.text[this.at] ?? '';
    if (/\s/.test(character)) this.at += 1;
    else if (this.take(COMMENT, 'comment') !== null) return;
    else if (character === '"' || character === "'") this.string();
    else if (character === '`') this.template(1);
    else if (/[{}()[\]]/.test(character)) this.bracket(character);
    else if (!this.isAfterValue && this.take(PATTERN, 'string') !== null) this.isAfterValue = true;
    else if (this.take(NUMBER, 'number') !== null) this.isAfterValue = true;
    else this.nameOrOperator();
  }

  private string(): void {
    const found = this.take(STRING, 'string');
    const token = this.tokens.at(-1);
    if (found !== null && token !== undefined && (found[1] ?? found[2]) === '') token.kind = 'bad';
    this.isAfterValue = true;
  }

  /** Reads a template literal, after `skipped` characters that begin or continue it. */
  private template(skipped: number): void {
    const start = this.at;
    TEMPLATE.lastIndex = start + skipped;
    const [found = '', end = ''] = TEMPLATE.exec(this.text) ?? [];
    this.at = start + skipped + found.length;
    this.tokens.push({ kind: end === '' ? 'bad' : 'string', start, end: this.at });
    if (end === '$') this.templates.push(this.depth);
    this.isAfterValue = true;
  }

  private bracket(character: string): void {
    this.tokens.push({ kind: 'bracket', start: this.at, end: this.at + 1 });
    this.at += 1;
    this.isAfterValue = character === ')' || character === ']' || character === '}';
    if (character === '{') this.depth += 1;
    if (character !== '}') return;
    this.depth -= 1;
    if (this.templates.at(-1) !== this.depth) return;
    this.templates.pop();
    if (this.at < this.text.length) this.template(0);
  }

  private nameOrOperator(): void {
    NAME.lastIndex = this.at;
    const name = NAME.exec(this.text)?.[0];
    if (name === undefined) {
      this.at += 1;
      this.isAfterValue = false;
      return;
    }
    const isMember = this.text[this.at - 1] === '.';
    if (!isMember && KEYWORDS.has(name)) this.tokens.push({ kind: 'word', start: this.at, end: this.at + name.length });
    this.at += name.length;
    this.isAfterValue = isMember || !KEYWORDS.has(name) || VALUES.has(name);
  }

  /** Adds a token if the pattern matches here. */
  private take(pattern: RegExp, kind: TokenKind): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null || found[0] === '') return null;
    this.tokens.push({ kind, start: this.at, end: this.at + found[0].length });
    this.at += found[0].length;
    return found;
  }
}

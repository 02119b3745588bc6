/** Kind of a token. `bad` is an unterminated string or an unknown word. */
export type TokenKind = 'key' | 'string' | 'number' | 'word' | 'comment' | 'bracket' | 'bad';

/** A token of a text. Text between tokens has no color. */
export interface Token {
  kind: TokenKind;
  start: number;
  end: number;
}

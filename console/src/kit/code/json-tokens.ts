import type { Token, TokenKind } from './token';

const TOKEN = /"(?:[^"\\\n]|\\.)*("?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\]]|[\p{L}_$][\p{L}\p{N}_$]*/gu;
const WORDS: ReadonlySet<string> = new Set(['true', 'false', 'null']);

/** Reads tokens of JSON, also of incomplete JSON. Returns no tokens for other formats, such as YAML or form data. */
export function readJsonTokens(text: string): Token[] {
  if (!/^\s*[{["]/.test(text)) return [];
  return [...text.matchAll(TOKEN)].map(({ 0: token, 1: closing, index: start }) => {
    const end = start + token.length;
    return { kind: kindOf(token, closing, text, end), start, end };
  });
}

function kindOf(token: string, closing: string | undefined, text: string, end: number): TokenKind {
  if (token.startsWith('"')) return closing === '"' ? (isFollowedByColon(text, end) ? 'key' : 'string') : 'bad';
  if (/^[{}[\]]$/.test(token)) return 'bracket';
  if (/^[-\d]/.test(token)) return 'number';
  return WORDS.has(token) ? 'word' : 'bad';
}

function isFollowedByColon(text: string, from: number): boolean {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return text[at] === ':';
}

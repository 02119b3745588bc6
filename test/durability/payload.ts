import { createHash } from 'node:crypto';
import type { Seeded } from './random.js';

/** The kinds of messages. Route filters select messages by their kind. */
export const KINDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;
export type Kind = (typeof KINDS)[number];

const LARGE_SHARE = 0.005;
const LARGE_CHARACTERS = 60_000;
const SMALL_CHARACTERS_MAX = 600;
/** Characters that a service would change if it parsed and re-serialized the payload. */
const EXOTIC = [
  'é',
  '漢',
  '🐎',
  '\u2028',
  '\\u0000',
  '\\/',
  '\\u00e9',
  '\\"',
  '\u007f',
  ' ',
  '\\ud83d\\ude00',
  '</script>',
  '%',
  '\\\\',
];

export const kindOf = (n: number): Kind => KINDS[n % KINDS.length] as Kind;

/**
 * Returns a payload with numbers that lose digits in a double, unnecessary escapes, and white space. The payload must
 * arrive unchanged.
 */
export function payloadOf(n: number, random: Seeded): string {
  const length = random.next() < LARGE_SHARE ? LARGE_CHARACTERS : random.between(0, SMALL_CHARACTERS_MAX);
  const pad = random.pick(EXOTIC) + 'x'.repeat(length) + random.pick(EXOTIC);
  return `{"n":${n},"kind":"${kindOf(n)}","pad":"${pad}" , "big":12345678901234567890, "small":1.10e-7,\n\t"n2":-0 }`;
}

export function hashOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/**
 * Returns a hash of the parsed value, so that the notation does not matter. Pull consumers get the payload as JSON
 * inside of JSON.
 */
export function meaningOf(value: unknown): string {
  return hashOf(JSON.stringify(value));
}

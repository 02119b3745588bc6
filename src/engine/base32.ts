import { Buffer } from 'node:buffer';

/** The alphabet of RFC 4648, section 6, in lower case only, because mail servers may change the case of addresses. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Encodes bytes as base32 without padding. A multiple of five bytes needs no padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

/** Decodes a text of the base32 alphabet. Drops the bits after the last whole byte. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
}

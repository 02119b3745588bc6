/** Form in which `JSON.stringify` writes a Node.js `Buffer`. */
export interface BufferJson {
  type: 'Buffer';
  data: number[];
}

/** White space that encoders insert into base64: MIME breaks lines after 76 characters (RFC 2045, 6.8). */
const WHITE_SPACE = /[ \t\r\n]+/g;

/**
 * Returns the bytes of base64 or base64url (RFC 4648), or null. Ignores white space. Padding may be missing only in
 * base64url, as its encoders omit padding. Rejects any other deviation, because decoders disagree about it.
 */
export function bytesOfBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  // Usually, the text has no white space, so no copy without white space is needed.
  if (bytes.toString('base64') === text) return bytes;
  const compact = text.replace(WHITE_SPACE, '');
  if (bytes.toString('base64') === compact) return bytes;
  const unpadded = bytes.toString('base64url');
  const padding = '='.repeat((4 - (unpadded.length % 4)) % 4);
  const isUrlSafe = /[-_]/.test(compact) && (compact === unpadded || compact === unpadded + padding);
  return isUrlSafe ? bytes : null;
}

/** Returns the bytes of a list of numbers or of a Node.js `Buffer` in its JSON form, or null for any other value. */
export function bytesOfNumbers(value: unknown): Buffer | null {
  const { type, data } = (typeof value === 'object' ? (value ?? {}) : {}) as { type?: unknown; data?: unknown };
  const numbers = type === 'Buffer' ? data : value;
  return Array.isArray(numbers) && numbers.every(isByte) ? Buffer.from(numbers as number[]) : null;
}

const isByte = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;

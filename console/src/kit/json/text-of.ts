/** Returns bytes as text, or null if they are not valid UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export const HEX_ROW_BYTES = 16;

/** Returns one row of a hex dump: offset, bytes, and their ASCII characters. */
export function hexRow(bytes: Uint8Array, at: number): string {
  const row = [...bytes.subarray(at, at + HEX_ROW_BYTES)];
  const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const ascii = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
  return `${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${ascii}`;
}

/** Returns bytes as base 64 (RFC 4648), for copying binary data to the clipboard. */
export function base64Of(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 24_576)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 24_576))));
  return parts.join('');
}

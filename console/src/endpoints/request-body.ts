/** Returns the body of a raw request, byte for byte. */
export function bytesOf({
  body,
  body_encoding: encoding,
}: {
  body: string;
  body_encoding: string;
}): Uint8Array<ArrayBuffer> {
  return encoding === 'base64'
    ? Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
    : new TextEncoder().encode(body);
}

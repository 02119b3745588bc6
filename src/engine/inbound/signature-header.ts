import { headerOf, type ReceivedRequest } from './request.js';
import type { HeaderList } from './scheme.js';

/** Maximum number of signatures that are read from a header, more than any provider sends. */
const SIGNATURES_MAX = 100;

export interface SignatureTexts {
  signatures: string[];
  /**
   * Text of the first timestamp part of the header. Later timestamp parts are ignored, because only this one is signed.
   */
  timestamp?: string;
}

/** Reads the signatures of all `headers`. */
export function readSignatures(
  headers: readonly string[],
  list: HeaderList | undefined,
  request: Pick<ReceivedRequest, 'headers'>,
): SignatureTexts {
  const values = headers.map((name) => headerOf(request, name)).filter((value) => value !== undefined);
  if (list === undefined) return { signatures: values.slice(0, SIGNATURES_MAX) };
  const { separator, signature, timestamp } = list;
  const texts = values.flatMap((value) => value.split(separator, SIGNATURES_MAX)).map((text) => text.trim());
  if (signature === undefined) return { signatures: texts.filter((text) => text !== '').slice(0, SIGNATURES_MAX) };
  const parts = texts.map((text) => {
    const cut = text.indexOf('=');
    return { name: text.slice(0, Math.max(cut, 0)).trim(), value: text.slice(cut + 1).trim() };
  });
  return {
    signatures: parts
      .filter(({ name }) => name === signature)
      .slice(0, SIGNATURES_MAX)
      .map(({ value }) => value),
    timestamp: timestamp === undefined ? undefined : parts.find(({ name }) => name === timestamp)?.value,
  };
}

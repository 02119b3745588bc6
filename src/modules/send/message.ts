import { forwardedHeaderFaults, normalizeForwardedHeaders } from '#engine/headers.js';
import { findMemberRange } from '#engine/member-range.js';
import { placeholderFaults } from '#kernel/crypto/sensitive-headers.js';
import { ApiError, invalid } from '#kernel/errors.js';

const PAYLOAD_BYTES_MAX = 1024 * 1024;

/** A message's payload as its exact text, and its headers with lower-case names. */
export interface MessageContent {
  payload: string;
  payloadBytes: number;
  headers: Record<string, string> | null;
}

/** Returns payload and headers. Throws 413 for a payload over 1 MB, 422 if it is missing or a header is not allowed. */
export function messageContent(bodyText: string, headers: Record<string, string> | undefined): MessageContent {
  const span = findMemberRange(bodyText, 'payload');
  if (!span) throw invalid([{ path: 'payload', message: 'is required' }]);
  const payload = bodyText.slice(span.start, span.end);
  const payloadBytes = Buffer.byteLength(payload);
  if (payloadBytes > PAYLOAD_BYTES_MAX) {
    throw new ApiError(
      'payload_too_large',
      `The payload has ${payloadBytes} bytes; at most ${PAYLOAD_BYTES_MAX} are taken.`,
    );
  }
  return {
    payload,
    payloadBytes,
    headers: headers && Object.keys(headers).length > 0 ? checkedHeaders(headers) : null,
  };
}

function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  const faults = [...forwardedHeaderFaults(headers), ...placeholderFaults(headers)];
  if (faults.length > 0) throw invalid(faults);
  return normalizeForwardedHeaders(headers);
}

import { forwardedHeaderFaults } from '#engine/headers.js';
import type { Fault } from '#kernel/errors.js';

const VALUE_BYTES_MAX = 16 * 1024;

/** Returns the errors of a secret value. The errors never contain the value. */
export function valueFaults(value: string): Fault[] {
  const isTooLong = Buffer.byteLength(value) > VALUE_BYTES_MAX;
  return isTooLong ? [{ path: 'value', message: `must have at most ${VALUE_BYTES_MAX} bytes in UTF-8` }] : [];
}

/** Returns the reasons why the value cannot be a complete header value. */
export function headerValueFaults(value: string): Fault[] {
  return forwardedHeaderFaults({ 'x-secret': value }).map(({ message }) => ({
    path: 'value',
    message: `a destination uses the secret in a header: ${message}`,
  }));
}

import { expectBoundedHead } from './bounded-head.js';
import { loadSealing } from './mailauth-internals.js';

/** Options for sealing a message (RFC 8617). The key is in PEM, because it is passed to another thread. */
export interface SealOptions {
  signingDomain: string;
  selector: string;
  privateKey: string;
  /** Value of the authentication results header, without the instance number (`i=`). */
  authResults: string;
  /** Result of the message's existing ARC chain. */
  cv: 'none' | 'pass' | 'fail';
}

const { createSeal } = loadSealing();

/**
 * Returns the three header fields of an ARC set, with line ends. Null if the message cannot be sealed, because its
 * chain has 50 sets or its last set states that the chain is invalid. Throws if the header section exceeds the limits in
 * `bounded-head.ts`. Does not change the message.
 */
export async function sealMessage(raw: Buffer, options: SealOptions): Promise<string | null> {
  expectBoundedHead(raw);
  const { headers } = await createSeal(raw, { seal: { ...options }, strict: true });
  return headers.length === 0 ? null : `${headers.join('\r\n')}\r\n`;
}

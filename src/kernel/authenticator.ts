import type { Caller } from './tenant.js';

/** Turns a presented key into who is calling. The auth context provides it; another authenticator may replace it. */
export abstract class Authenticator {
  /** The caller behind the bearer value, or null when it is unknown, expired or revoked. Throws only when storage is away. */
  abstract authenticate(bearer: string): Promise<Caller | null>;
}

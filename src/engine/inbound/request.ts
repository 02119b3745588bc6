export interface ReceivedRequest {
  /** HTTP method in upper case. */
  method: string;
  /** Path below the endpoint's own path, percent-encoded as sent: empty, or with a leading slash. */
  path: string;
  /** Query as sent, without the question mark. Empty when there is none. */
  query: string;
  /** Headers in the order in which they were sent, including repeated ones. Names are in lower case. */
  headers: readonly (readonly [name: string, value: string])[];
  /** The exact bytes of the body. Empty when there is none. */
  body: Buffer;
  /** The whole public URL. Some providers sign it. */
  url: string;
  ip: string;
  /** Time of receipt in milliseconds. Set only for a stored request that is processed again. */
  receivedAtMs?: number;
}

/** Result of a verification. `none` if the endpoint does not verify requests. */
export type Verification = 'verified' | 'failed' | 'none';

export interface SynchronousAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Groups values by name. Preserves the order of the names, and the order of the values of each name. */
export function valuesByName(pairs: Iterable<readonly [name: string, value: string]>): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

/** Returns a header, with repeated values joined by ", " (RFC 9110, section 5.3). `name` is in lower case. */
export function headerOf(request: Pick<ReceivedRequest, 'headers'>, name: string): string | undefined {
  let value: string | undefined;
  for (const [known, text] of request.headers)
    if (known === name) value = value === undefined ? text : `${value}, ${text}`;
  return value;
}

export interface ReceivedRequest {
  /** Method in upper case. */
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
  /** Time of receipt. Set only for a stored request that is processed again. */
  receivedAtMs?: number;
}

/** `none` if nothing is verified. */
export type Verification = 'verified' | 'failed' | 'none';

export interface SynchronousAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Returns a header; repeated values are joined by ", " (RFC 9110, section 5.3). `name` is in lower case. */
export function headerOf(request: Pick<ReceivedRequest, 'headers'>, name: string): string | undefined {
  let value: string | undefined;
  for (const [known, text] of request.headers)
    if (known === name) value = value === undefined ? text : `${value}, ${text}`;
  return value;
}

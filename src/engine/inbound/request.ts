/** A request as a provider sent it to an endpoint. */
export interface ReceivedRequest {
  /** In upper case. */
  method: string;
  /** The path behind the endpoint's own, percent-encoded as it was sent: empty, or starting with a slash. */
  path: string;
  /** The query as it was sent, without the question mark; empty when there is none. */
  query: string;
  /** Names in lower case, in the order in which they were sent, repeated ones too. */
  headers: readonly (readonly [name: string, value: string])[];
  /** The body byte for byte; empty when there is none. */
  body: Buffer;
  /** The whole URL that the provider called, as it is known outside: some providers sign it. */
  url: string;
  /** The client's address. */
  ip: string;
  /** When it came, in milliseconds since the epoch; for one that is looked at again. */
  receivedAtMs?: number;
}

/** Whether a provider's signature held: `none` where nothing is verified. */
export type Verification = 'verified' | 'failed' | 'none';

/** A synchronous answer to a provider. */
export interface SynchronousAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The value of a header, several joined by a comma and a space (RFC 9110, section 5.3); undefined without one. `name` is in lower case. */
export function headerOf(request: Pick<ReceivedRequest, 'headers'>, name: string): string | undefined {
  let value: string | undefined;
  for (const [known, text] of request.headers)
    if (known === name) value = value === undefined ? text : `${value}, ${text}`;
  return value;
}

/** An idempotency key and its scope, which is the environment, the method and the path. */
export interface IdempotentRequest {
  environmentId: number;
  /** Method and path as sent, without the query: `POST /v1/send`. */
  route: string;
  /** The key, a UUID in lower case. */
  key: string;
  /** SHA-256 of the raw request body, 32 bytes. */
  fingerprint: Buffer;
  /**
   * Identifies the HTTP layer's reservation of the key. The reservation ends when the changes of the request are
   * stored.
   */
  fence?: string;
}

/** The first response to a request with a key. Later requests with the key receive the same bytes. */
export interface StoredAnswer {
  status: number;
  body: string;
}

/** The response that is committed together with the changes of the request. Null if the request has no key. */
export type KeptAnswer = ({ request: IdempotentRequest } & StoredAnswer) | null;

/** Thrown when a write finds a key that already has a response. The HTTP layer returns that response. */
export class AlreadyAnswered extends Error {
  override readonly name = 'AlreadyAnswered';

  constructor(readonly answer: StoredAnswer) {
    super('This idempotency key already has a response.');
  }
}

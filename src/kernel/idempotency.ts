/** An idempotency key in its scope (contract, section 3): environment + method + path + key. */
export interface Once {
  environmentId: number;
  /** Method and path as sent, without the query: `POST /v1/send`. */
  route: string;
  /** The key, a lower-case uuid. */
  key: string;
  /** SHA-256 of the raw request body, 32 bytes. */
  fingerprint: Buffer;
}

/** The first answer to a key, repeated byte for byte. */
export interface StoredAnswer {
  status: number;
  body: string;
}

/** Thrown where a write meets a key that was answered before; the edge turns it into that answer. */
export class AlreadyAnswered extends Error {
  override readonly name = 'AlreadyAnswered';

  constructor(readonly answer: StoredAnswer) {
    super('This idempotency key has been answered.');
  }
}

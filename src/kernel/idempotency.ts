/** An idempotency key in its scope (contract, section 3): environment + method + path + key. */
export interface IdempotentRequest {
  environmentId: number;
  /** Method and path as sent, without the query: `POST /v1/send`. */
  route: string;
  /** The key, a lower-case uuid. */
  key: string;
  /** SHA-256 of the raw request body, 32 bytes. */
  fingerprint: Buffer;
  /** Names the reservation of a key that the edge has taken for this request; a statement that writes the effect settles it. */
  fence?: string;
}

/** The first answer to a key, repeated byte for byte. */
export interface StoredAnswer {
  status: number;
  body: string;
}

/** The answer that is committed with what a request makes, or null without a key. */
export type KeptAnswer = ({ request: IdempotentRequest } & StoredAnswer) | null;

/** Thrown where a write meets a key that was answered before; the edge turns it into that answer. */
export class AlreadyAnswered extends Error {
  override readonly name = 'AlreadyAnswered';

  constructor(readonly answer: StoredAnswer) {
    super('This idempotency key has been answered.');
  }
}

import { type Id, idBytes, idFromBytes, lowestIdAt } from '#kernel/ids.js';
import { decodeUlid, encodeUlid } from '#kernel/ulid.js';

/** The kinds of changes. Within a transaction, changes are sent in the order of these numbers. */
export const CHANGE_KINDS = { accepted: 1, attempt: 2, status: 3 } as const;

/** Sort key of a row within the changes of a transaction. Kind 0 comes before all changes of the transaction. */
export interface ChangeKey {
  kind: number;
  eventId: Id;
  ordinal: number;
  number: number;
}

/**
 * A position in the history of changes: directly after a change, or before all changes of a transaction. Positions are
 * ordered by transaction (ADR 9), so that a late commit never sorts before a change that was already sent.
 */
export interface StreamPosition {
  epoch: number;
  xid: bigint;
  /** PostgreSQL's time of the read. Limits how far back a stream that resumes at this position searches. */
  atMs: number;
  key: ChangeKey;
}

const FORM = /^(\d{1,9})\.(\d{1,19})\.(\d{1,14})(?:\.([123])\.([0-9A-HJKMNP-TV-Z]{26})\.(\d{1,5})\.(\d{1,5}))?$/;
const INT_MAX = 2_147_483_647;
const BIGINT_MAX = 2n ** 63n - 1n;

export const FRONT: ChangeKey = { kind: 0, eventId: lowestIdAt(0), ordinal: 0, number: 0 };

/** Returns the wire format of a position, which the stream sends as the `id` of each change. */
export function showPosition({ epoch, xid, atMs, key }: StreamPosition): string {
  const front = `${epoch}.${xid}.${atMs}`;
  return key.kind === 0
    ? front
    : `${front}.${key.kind}.${encodeUlid(idBytes(key.eventId))}.${key.ordinal}.${key.number}`;
}

/** Parses a position, or returns null for any other text. */
export function parsePosition(text: string): StreamPosition | null {
  const [, epoch, xid, atMs, kind, ulid, ordinal, number] = FORM.exec(text) ?? [];
  if (
    epoch === undefined ||
    xid === undefined ||
    atMs === undefined ||
    Number(epoch) > INT_MAX ||
    BigInt(xid) > BIGINT_MAX
  )
    return null;
  const place = { epoch: Number(epoch), xid: BigInt(xid), atMs: Number(atMs) };
  if (ulid === undefined) return { ...place, key: FRONT };
  const bytes = decodeUlid(ulid);
  return (
    bytes && {
      ...place,
      key: { kind: Number(kind), eventId: idFromBytes(bytes), ordinal: Number(ordinal), number: Number(number) },
    }
  );
}

import { writeId } from '../ids.js';

/**
 * One-dimensional PostgreSQL arrays in the binary format (`array_send` in arrayfuncs.c), which `pg` sends unchanged.
 * The text format needs an escape pass over every byte, and JSON bodies are full of quotes.
 */
const OID = {
  bool: 16,
  bytea: 17,
  int2: 21,
  int4: 23,
  float8: 701,
  text: 25,
  uuid: 2950,
  timestamptz: 1184,
  date: 1082,
  jsonb: 3802,
} as const;

/** Milliseconds from the Unix epoch to PostgreSQL's, 2000-01-01. */
const PG_EPOCH_MS = 946_684_800_000;
const DAY_MS = 86_400_000;

type Writer<T> = (buffer: Buffer, offset: number, value: T) => void;

function fixed<T>(oid: number, size: number, values: readonly (T | null)[], write: Writer<T>): Buffer {
  const buffer = Buffer.allocUnsafe(20 + values.length * (4 + size));
  let offset = header(buffer, oid, values.length, values.includes(null));
  // Uses a loop index, because an iterator would allocate about one kilobyte of objects per message.
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as T | null;
    if (value === null) {
      offset = buffer.writeInt32BE(-1, offset);
    } else {
      offset = buffer.writeInt32BE(size, offset);
      write(buffer, offset, value);
      offset += size;
    }
  }
  return buffer.subarray(0, offset);
}

function header(buffer: Buffer, oid: number, length: number, hasNull: boolean): number {
  buffer.writeInt32BE(length === 0 ? 0 : 1, 0);
  buffer.writeInt32BE(hasNull ? 1 : 0, 4);
  buffer.writeInt32BE(oid, 8);
  if (length === 0) return 12;
  buffer.writeInt32BE(length, 12);
  return buffer.writeInt32BE(1, 16);
}

/** Encodes texts. They must not contain NUL or lone surrogates, which the HTTP layer rejects. */
export function textArray(values: readonly (string | null)[]): Buffer {
  return variable(OID.text, values, false);
}

export function jsonbArray(values: readonly (string | null)[]): Buffer {
  return variable(OID.jsonb, values, true);
}

export function byteaArray(values: readonly (Buffer | null)[]): Buffer {
  const buffer = Buffer.allocUnsafe(20 + values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 0));
  let offset = header(buffer, OID.bytea, values.length, values.includes(null));
  for (const value of values) {
    offset = buffer.writeInt32BE(value?.length ?? -1, offset);
    if (value !== null) offset += value.copy(buffer, offset);
  }
  return buffer.subarray(0, offset);
}

function variable(oid: number, values: readonly (string | null)[], versioned: boolean): Buffer {
  const prefix = versioned ? 1 : 0;
  let bytes = 20;
  for (let i = 0; i < values.length; i += 1)
    bytes += 4 + (values[i] === null ? 0 : Buffer.byteLength(values[i] as string) + prefix);
  const buffer = Buffer.allocUnsafe(bytes);
  let offset = header(buffer, oid, values.length, values.includes(null));
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as string | null;
    if (value === null) {
      offset = buffer.writeInt32BE(-1, offset);
      continue;
    }
    const start = offset + 4;
    if (versioned) buffer.writeUInt8(1, start);
    const end = start + prefix + buffer.write(value, start + prefix);
    buffer.writeInt32BE(end - start, offset);
    offset = end;
  }
  return buffer.subarray(0, offset);
}

export const uuidArray = (values: readonly (string | null)[]): Buffer =>
  fixed(OID.uuid, 16, values, (buffer, offset, value) => writeId(buffer, offset, value));

export const intArray = (values: readonly (number | null)[]): Buffer =>
  fixed(OID.int4, 4, values, (buffer, offset, value) => void buffer.writeInt32BE(value, offset));

export const smallintArray = (values: readonly (number | null)[]): Buffer =>
  fixed(OID.int2, 2, values, (buffer, offset, value) => void buffer.writeInt16BE(value, offset));

export const floatArray = (values: readonly (number | null)[]): Buffer =>
  fixed(OID.float8, 8, values, (buffer, offset, value) => void buffer.writeDoubleBE(value, offset));

export const booleanArray = (values: readonly (boolean | null)[]): Buffer =>
  fixed(OID.bool, 1, values, (buffer, offset, value) => void buffer.writeUInt8(value ? 1 : 0, offset));

/** Encodes timestamps, given in milliseconds since the Unix epoch. */
export const timestampArray = (valuesMs: readonly (number | null)[]): Buffer =>
  fixed(OID.timestamptz, 8, valuesMs, (buffer, offset, valueMs) => {
    const micros = (valueMs - PG_EPOCH_MS) * 1000;
    const high = Math.floor(micros / 2 ** 32);
    buffer.writeInt32BE(high, offset);
    buffer.writeUInt32BE(micros - high * 2 ** 32, offset + 4);
  });

/** Encodes dates, given in whole days since the Unix epoch. */
export const dateArray = (days: readonly (number | null)[]): Buffer =>
  fixed(OID.date, 4, days, (buffer, offset, day) => void buffer.writeInt32BE(day - PG_EPOCH_MS / DAY_MS, offset));

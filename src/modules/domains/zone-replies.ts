import packet from 'dns-packet';
import { answerFrom, type ZoneRecord } from '#engine/mail/platform-zone.js';

/** Transport of a DNS query. The size of a reply is limited only over UDP. */
export interface QueryWay {
  isUdp: boolean;
  /** True if the client exceeds its quota. The reply then contains no records, and requests a retry over TCP. */
  isShort: boolean;
}

/** Response codes of RFC 1035, section 4.1.1, and RFC 6891. */
const CODES = { fine: 0, malformed: 1, failed: 2, absent: 3, unknown: 4, refused: 5 } as const;
const HEADER_BYTES = 12;
const LABEL_BYTES_MAX = 63;
const NAME_BYTES_MAX = 255;
const CLASS_IN = 1;
const FLAG_RESPONSE = 0x8000;
const FLAG_AUTHORITATIVE = 0x0400;
const FLAG_TRUNCATED = 0x0200;
const FLAG_RECURSION_DESIRED = 0x0100;
/** Maximum size of a UDP reply to a query without EDNS. */
const UDP_BYTES_PLAIN = 512;
/** Size that most networks pass without fragmentation (DNS flag day 2020). */
const UDP_BYTES_MAX = 1_232;
/** Zone transfers and obsolete mail queries are refused. */
const REFUSED_TYPES: ReadonlySet<string> = new Set(['AXFR', 'IXFR', 'MAILA', 'MAILB']);
const PLAIN_NAME = /^[A-Za-z0-9_.-]*$/;

interface Question {
  name: string;
  type: string;
  isInternet: boolean;
  /** Offset in the query at which the question ends. */
  end: number;
}

/**
 * Returns the reply to a query. Never throws, even for invalid bytes, and never answers for names in other zones.
 * Returns null if the query is shorter than a header, or if it is itself a reply. `zone` is null if the zone could not
 * be read.
 */
export function replyTo(
  query: Buffer,
  zone: readonly ZoneRecord[] | null,
  { isUdp, isShort }: QueryWay,
): Buffer | null {
  if (query.length < HEADER_BYTES || (query.readUInt16BE(2) & FLAG_RESPONSE) !== 0) return null;
  if (((query.readUInt16BE(2) >> 11) & 0xf) !== 0) return bare(query, CODES.unknown, null);
  const question = query.readUInt16BE(4) === 1 ? questionOf(query) : null;
  const bytesMax = question === null ? null : udpBytesOf(query);
  if (question === null || bytesMax === null) return bare(query, CODES.malformed, null);
  if (zone === null) return bare(query, CODES.failed, question);
  if (!question.isInternet || REFUSED_TYPES.has(question.type)) return bare(query, CODES.refused, question);
  const answer = answerFrom(zone, question.name, question.type);
  if (answer.code === 'refused') return bare(query, CODES.refused, question);
  if (isShort) return bare(query, CODES.fine, question, FLAG_AUTHORITATIVE | FLAG_TRUNCATED);
  if (!PLAIN_NAME.test(question.name)) return bare(query, CODES.absent, question, FLAG_AUTHORITATIVE);
  const reply = wholeReply(query, question, answer, zone, bytesMax.isExtended);
  return !isUdp || reply.length <= bytesMax.bytes
    ? reply
    : bare(query, CODES.fine, question, FLAG_AUTHORITATIVE | FLAG_TRUNCATED);
}

function wholeReply(
  query: Buffer,
  { name, type }: Question,
  answer: { code: 'fine' | 'absent'; records: readonly ZoneRecord[] },
  zone: readonly ZoneRecord[],
  isExtended: boolean,
): Buffer {
  const [start] = zone;
  // A negative reply contains the zone's SOA record, which limits how long the reply may be cached (RFC 2308).
  const authorities =
    answer.records.length > 0 || start?.type !== 'SOA'
      ? []
      : [packetRecord({ ...start, ttl: start.soa.negativeTtl }, start.name)];
  return packet.encode({
    type: 'response',
    id: query.readUInt16BE(0),
    flags: FLAG_AUTHORITATIVE | (query.readUInt16BE(2) & FLAG_RECURSION_DESIRED) | CODES[answer.code],
    questions: [{ name, type: type as packet.RecordType, class: 'IN' }],
    // The reply uses the name from the question, with the same upper and lower case.
    answers: answer.records.map((record) => packetRecord(record, name)),
    authorities,
    additionals: isExtended
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: UDP_BYTES_MAX,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  });
}

function packetRecord(record: ZoneRecord, name: string): packet.Answer {
  const { ttl } = record;
  switch (record.type) {
    case 'A':
    case 'AAAA':
    case 'NS':
      return { name, ttl, type: record.type, data: record.value };
    case 'MX':
      return { name, ttl, type: 'MX', data: { preference: record.priority, exchange: record.value } };
    case 'TXT':
      return { name, ttl, type: 'TXT', data: [...record.strings] };
    case 'SOA': {
      const { primary, mailbox, serial, refresh, retry, expire, negativeTtl } = record.soa;
      return {
        name,
        ttl,
        type: 'SOA',
        data: { mname: primary, rname: mailbox, serial, refresh, retry, expire, minimum: negativeTtl },
      };
    }
  }
}

/** Returns a reply without records: the header and, if known, the question's bytes. Never longer than the query. */
function bare(query: Buffer, code: number, question: Question | null, flags = 0): Buffer {
  const reply = Buffer.from(query.subarray(0, question?.end ?? HEADER_BYTES));
  const given = query.readUInt16BE(2);
  reply.writeUInt16BE(FLAG_RESPONSE | (given & 0x7800) | flags | (given & FLAG_RECURSION_DESIRED) | code, 2);
  reply.writeUInt16BE(question === null ? 0 : 1, 4);
  reply.fill(0, 6, HEADER_BYTES);
  return reply;
}

/** Returns the question. Null if it is truncated or has a compression pointer, which valid questions never have. */
function questionOf(query: Buffer): Question | null {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = query[at];
    if (length === undefined || length > LABEL_BYTES_MAX || at - HEADER_BYTES > NAME_BYTES_MAX) return null;
    at += 1;
    if (length === 0) break;
    // A dot inside a label must not look like a separator between labels.
    labels.push(query.toString('latin1', at, at + length).replaceAll('.', '\\'));
    at += length;
  }
  if (at + 4 > query.length || at - HEADER_BYTES > NAME_BYTES_MAX) return null;
  return {
    name: labels.join('.'),
    type: typeName(query.readUInt16BE(at)),
    isInternet: query.readUInt16BE(at + 2) === CLASS_IN,
    end: at + 4,
  };
}

/** Returns the maximum size of a reply over UDP, or null for a query that cannot be parsed. */
function udpBytesOf(query: Buffer): { bytes: number; isExtended: boolean } | null {
  if (query.readUInt16BE(6) + query.readUInt16BE(8) + query.readUInt16BE(10) === 0)
    return { bytes: UDP_BYTES_PLAIN, isExtended: false };
  try {
    const { additionals = [] } = packet.decode(query);
    const option = additionals.find(({ type }) => type === 'OPT');
    if (option?.type !== 'OPT') return { bytes: UDP_BYTES_PLAIN, isExtended: false };
    return { bytes: Math.min(Math.max(option.udpPayloadSize, UDP_BYTES_PLAIN), UDP_BYTES_MAX), isExtended: true };
  } catch {
    return null;
  }
}

const TYPES: Readonly<Record<number, string>> = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  6: 'SOA',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
  251: 'IXFR',
  252: 'AXFR',
  253: 'MAILB',
  254: 'MAILA',
  255: 'ANY',
};

/** Returns the type's name. For an unknown type, returns the text that `dns-packet` uses. */
function typeName(type: number): string {
  return TYPES[type] ?? `UNKNOWN_${type}`;
}

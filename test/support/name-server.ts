import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

/** The answer for a name: addresses (optionally behind an alias), no such name, a failure, or no answer. */
export type NameAnswer =
  | { addresses: readonly string[]; ttlSeconds?: number; alias?: string; silentFor?: 4 | 6 }
  | 'absent'
  | 'fails'
  | 'silent';

/** A name server on 127.0.0.1 (RFC 1035, over UDP) that gives authoritative answers, or none. */
export interface NameServer {
  /** Address in the format of DNS_SERVERS. */
  readonly address: string;
  /** The queries as `A name` and `AAAA name`, in the order of arrival. */
  readonly questions: readonly string[];
  close(): Promise<void>;
}

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const CNAME = 5;
const CODES = { fine: 0, fails: 2, absent: 3 };
const HEADER_BYTES = 12;

/** Starts a name server. `answer` is called for every query, so its result may change. */
export async function startNameServer(answer: (name: string) => NameAnswer): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, peer) => {
    const { name, type, end } = questionOf(query);
    questions.push(`${TYPES[type] ?? type} ${name}`);
    const reply = replyTo(query.subarray(0, end), name, type, answer(name.toLowerCase()));
    if (reply !== null) socket.send(reply, peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => void socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Returns a reply, or null for no answer. `asked` is the query up to the end of its question. */
function replyTo(asked: Buffer, name: string, type: number, answer: NameAnswer): Buffer | null {
  if (answer === 'silent') return null;
  if (answer === 'absent' || answer === 'fails') return message(asked, CODES[answer], []);
  const { addresses, ttlSeconds = 60, alias, silentFor } = answer;
  if (silentFor !== undefined && TYPES[type] === (silentFor === 4 ? 'A' : 'AAAA')) return null;
  const fitting = addresses.filter((address) => isIPv4(address) === (TYPES[type] === 'A'));
  const records = fitting.map((address) => record(alias ?? name, type, ttlSeconds, addressBytes(address)));
  return message(
    asked,
    CODES.fine,
    alias === undefined ? records : [record(name, CNAME, ttlSeconds, nameBytes(alias)), ...records],
  );
}

function message(asked: Buffer, code: number, records: readonly Buffer[]): Buffer {
  const head = Buffer.from(asked);
  // Flags: response, authoritative, recursion available.
  head.writeUInt16BE(0x8580 | code, 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records]);
}

function record(name: string, type: number, ttlSeconds: number, value: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(ttlSeconds, 4);
  fields.writeUInt16BE(value.length, 8);
  return Buffer.concat([nameBytes(name), fields, value]);
}

function nameBytes(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ]);
}

/** Returns the bytes of an address. IPv6 is supported in full or with one `::`. */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [front = '', back = ''] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''))
    .map((groups) => groups.map((group) => group.padStart(4, '0')).join(''));
  return Buffer.from(front + '0'.repeat(32 - front.length - back.length) + back, 'hex');
}

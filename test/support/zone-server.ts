import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import packet from 'dns-packet';

/** Records of one name and type: TXT as the whole text, MX as `10 mx.example.com`, other types as in a zone file. */
export type ZoneRecords = readonly string[];

/** A fault in the answers for a name: SERVFAIL, no answer, or an answer truncated over UDP and cut off over TCP. */
export type ZoneTrouble = 'fails' | 'silent' | 'cut';

/** A name server on 127.0.0.1, over UDP and TCP, that is authoritative for every name. */
export interface ZoneServer {
  /** Address in the format of DNS_SERVERS. */
  readonly address: string;
  /** The queries as `TXT name`, in the order of arrival. */
  readonly questions: string[];
  /** Publishes records. An empty list removes them. */
  set(name: string, type: 'TXT' | 'CNAME' | 'MX' | 'A' | 'AAAA', records: ZoneRecords): void;
  /** Sets a fault for a name and all names below it. Null removes the fault. */
  trouble(name: string, trouble: ZoneTrouble | null): void;
  close(): Promise<void>;
}

const CHARACTERS_OF_STRING_MAX = 255;
const CNAMES_MAX = 8;
const AUTHORITATIVE = packet.AUTHORITATIVE_ANSWER | packet.RECURSION_AVAILABLE;
const UDP_BYTES_MAX = 512;

/** Starts a server without any records, so that no name exists. */
export async function startZoneServer(): Promise<ZoneServer> {
  const zone = new Map<string, ZoneRecords>();
  const troubles = new Map<string, ZoneTrouble>();
  const questions: string[] = [];
  const { udp, tcp, port } = await listen();

  const troubleOf = (name: string): ZoneTrouble | undefined =>
    [...troubles].find(([apex]) => name === apex || name.endsWith(`.${apex}`))?.[1];
  const reply = (query: Buffer, isUdp: boolean): Buffer | null => {
    const {
      id,
      questions: [question],
    } = packet.decode(query) as packet.DecodedPacket & { questions: packet.Question[] };
    if (!question) return null;
    const name = question.name.toLowerCase();
    questions.push(`${question.type} ${name}`);
    const trouble = troubleOf(name);
    if (trouble === 'silent' || (trouble === 'cut' && !isUdp)) return null;
    if (trouble === 'cut')
      return packet.encode({
        type: 'response',
        id,
        flags: AUTHORITATIVE | packet.TRUNCATED_RESPONSE,
        questions: [question],
      });
    const answers = trouble === undefined ? answersTo(zone, name, question.type) : [];
    const exists = [...zone.keys()].some((key) => key.endsWith(` ${name}`));
    const rcode = trouble === 'fails' ? 2 : exists ? 0 : 3;
    const whole = packet.encode({ type: 'response', id, flags: AUTHORITATIVE | rcode, questions: [question], answers });
    if (!isUdp || whole.length <= UDP_BYTES_MAX) return whole;
    return packet.encode({
      type: 'response',
      id,
      flags: AUTHORITATIVE | packet.TRUNCATED_RESPONSE,
      questions: [question],
    });
  };

  const cutsOff = (query: Buffer): boolean => {
    const {
      questions: [question],
    } = packet.decode(query) as packet.DecodedPacket & { questions: packet.Question[] };
    return question !== undefined && troubleOf(question.name.toLowerCase()) === 'cut';
  };

  udp.on('message', (query, peer) => {
    const answer = reply(query, true);
    if (answer !== null) udp.send(answer, peer.port, peer.address);
  });
  tcp.on('connection', (socket) => {
    let held = Buffer.alloc(0);
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        held = Buffer.concat([held, bytes]);
        while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
          const query = held.subarray(2, 2 + held.readUInt16BE(0));
          const answer = reply(query, false);
          held = held.subarray(2 + held.readUInt16BE(0));
          if (answer === null) {
            if (cutsOff(query)) socket.destroy();
            continue;
          }
          const length = Buffer.alloc(2);
          length.writeUInt16BE(answer.length);
          socket.write(Buffer.concat([length, answer]));
        }
      });
  });

  return {
    address: `127.0.0.1:${port}`,
    questions,
    set(name, type, records) {
      if (records.length > 0) zone.set(`${type} ${name.toLowerCase()}`, records);
      else zone.delete(`${type} ${name.toLowerCase()}`);
    },
    trouble(name, trouble) {
      if (trouble === null) troubles.delete(name.toLowerCase());
      else troubles.set(name.toLowerCase(), trouble);
    },
    close: async () => {
      await new Promise<void>((resolve) => udp.close(resolve));
      await new Promise((resolve) => tcp.close(resolve));
    },
  };
}

/** Listens on one port over UDP and TCP, and returns both sockets. Retries if the UDP port is in use for TCP. */
async function listen(): Promise<{ udp: UdpSocket; tcp: Server; port: number }> {
  for (let tries = 0; tries < 20; tries += 1) {
    const tcp = createServer().listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4');
    const bound = await new Promise<boolean>((resolve) =>
      udp.once('error', () => resolve(false)).bind(port, '127.0.0.1', () => resolve(true)),
    );
    if (bound) return { udp, tcp, port };
    tcp.close();
  }
  throw new Error('No port is free for both UDP and TCP.');
}

/** Returns the records of an answer as a resolver does: the aliases, then the records of the last alias's target. */
function answersTo(zone: ReadonlyMap<string, ZoneRecords>, name: string, type: string): packet.Answer[] {
  const answers: packet.Answer[] = [];
  let at = name;
  for (let hops = 0; hops < CNAMES_MAX; hops += 1) {
    const found = (zone.get(`${type} ${at}`) ?? []).map((record) => answerOf(at, type, record));
    if (found.length > 0 || type === 'CNAME') return [...answers, ...found];
    const [target] = zone.get(`CNAME ${at}`) ?? [];
    if (target === undefined) return answers;
    answers.push(answerOf(at, 'CNAME', target));
    at = target.toLowerCase();
  }
  return answers;
}

function answerOf(name: string, type: string, record: string): packet.Answer {
  if (type === 'TXT')
    return {
      name,
      type: 'TXT',
      ttl: 60,
      data: record.match(new RegExp(`[^]{1,${CHARACTERS_OF_STRING_MAX}}`, 'g')) ?? [''],
    };
  if (type === 'MX') {
    const [preference = '', exchange = ''] = record.split(' ');
    return { name, type: 'MX', ttl: 60, data: { preference: Number(preference), exchange } };
  }
  return { name, type: type as 'CNAME', ttl: 60, data: record };
}

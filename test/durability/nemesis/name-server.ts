import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const TYPE_A = 1;
/** An answer record: a pointer to the question's name, type A, class IN, TTL one second, four bytes: 127.0.0.1. */
const LOCALHOST = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
/** Label below which DNS queries are never answered. */
const SILENT = 'silent';

/** A name server that resolves every name to 127.0.0.1, except names under `silent.test`, which get no answer. */
export class NameServer {
  swallowed = 0;
  answered = 0;

  private constructor(private readonly socket: Socket) {
    socket.on('message', (question, { port, address }) => {
      const answer = this.answerTo(question);
      if (answer) socket.send(answer, port, address);
    });
    socket.on('error', () => undefined);
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket);
  }

  /** Returns the address of this server as the value for DNS_SERVERS. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  close(): void {
    this.socket.close();
  }

  private answerTo(question: Buffer): Buffer | null {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length).toLowerCase());
      at += 1 + length;
    }
    if (labels.includes(SILENT)) {
      this.swallowed += 1;
      return null;
    }
    this.answered += 1;
    const isA = question.readUInt16BE(at + 1) === TYPE_A;
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(isA ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([header, question.subarray(HEADER_BYTES, at + 5), ...(isA ? [LOCALHOST] : [])]);
  }
}

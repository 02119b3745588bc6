/**
 * SMTP load generator in a separate process. A run sends `perSecond` messages each second, or `count` messages, or as
 * many as possible (see load.mjs). Opens sixteen connections from each of 127.0.0.2, 127.0.0.3 and so on, because the
 * SMTP listener limits the connections per client address.
 */
import dgram from 'node:dgram';
import net from 'node:net';
import { nowMs } from './clock.mjs';
import { answerQuestions, DIGITS, MARK, MESSAGES_MAX, writeNumber } from './protocol.mjs';

/** Timer interval. With 1 ms, the timer would take a few percent of a CPU core from the measured processes. */
const TICK_MS = 10;
/** Pause after a refused message or a broken connection. */
const PAUSE_MS = 10;
const LAST_ANSWERS_MS = 10_000;
const CONNECTIONS_OF_ONE_ADDRESS = 16;
const SENDER = 'orders@shop.example';
const LINE = 'A line of an ordinary letter, neither short nor long, as they are read every day.\r\n';

/**
 * @typedef {{ ports: number[], connections: number, first: number, to: string, bytes: number, perSecond?: number,
 * count?: number, login?: { from: string, key: string } }} Order `login`: sender and API key, to submit emails
 */

/**
 * Returns a message of the given size with a unique number.
 *
 * @param {string} from @param {string} to @param {number} bytes
 */
function letter(from, to, bytes) {
  const number = MARK + '0'.repeat(DIGITS);
  const head = [
    `Message-ID: <${number}@shop.example>`,
    `From: Shop <${from}>`,
    `To: ${to}`,
    'Subject: Your order',
    'Date: Mon, 05 Jan 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    '',
  ].join('\r\n');
  const lines = Math.floor((bytes - head.length) / LINE.length);
  return Buffer.from(`${head}${LINE.repeat(lines)}.\r\n`);
}

/**
 * Sends one message at a time: MAIL, RCPT and DATA together (RFC 2920), then the message. Code 0 means that the
 * connection broke before the reply.
 */
class MailConnection {
  /** Number of the message in flight. */
  number = 0;
  #isGreeted = false;
  #isBusy = false;
  #isClosed = false;
  #refusal = 0;
  /** Number of replies so far for the current message. The server replies to MAIL, RCPT, DATA and the content. */
  #answers = 0;
  #text = '';
  /** @type {net.Socket | null} */
  #socket = null;

  /**
   * @param {{ port: number, localAddress: string, login: string | null, envelope: string, message: Buffer }} to
   * `login`: the SMTP command that logs in; null to send without a login
   * @param {(connection: MailConnection, code: number) => void} onAnswer
   */
  constructor(to, onAnswer) {
    this.to = to;
    this.onAnswer = onAnswer;
    this.message = Buffer.from(to.message);
    this.numberAt = this.message.indexOf(MARK) + 1;
    this.#socket = this.#connect();
  }

  /** @param {number} number */
  send(number) {
    this.number = number;
    this.#isBusy = true;
    this.#answers = 0;
    this.#refusal = 0;
    this.#socket ??= this.#connect();
    if (this.#isGreeted) this.#socket.write(this.to.envelope);
  }

  close() {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  #connect() {
    const { port, localAddress } = this.to;
    this.#isGreeted = false;
    this.#text = '';
    const socket = net.connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
    socket.setEncoding('latin1');
    socket.on('data', (/** @type {string} */ chunk) => this.#read(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#drop());
    return socket;
  }

  /** @param {string} chunk */
  #read(chunk) {
    this.#text += chunk;
    for (let end = this.#text.indexOf('\r\n'); end >= 0; end = this.#text.indexOf('\r\n')) {
      const line = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 2);
      if (line[3] !== '-') this.#answered(Number(line.slice(0, 3)));
    }
  }

  /** @param {number} code */
  #answered(code) {
    if (code === 220 && !this.#isGreeted) return void this.#socket?.write('EHLO bench.example\r\n');
    if (code === 250 && !this.#isGreeted && this.to.login !== null)
      return void this.#socket?.write(`${this.to.login}\r\n`);
    if (!this.#isGreeted) {
      this.#isGreeted = code === (this.to.login === null ? 250 : 235);
      if (this.#isGreeted && this.#isBusy) this.#socket?.write(this.to.envelope);
      else if (!this.#isGreeted) this.#socket?.destroy();
      return;
    }
    if (!this.#isBusy) return;
    this.#answers += 1;
    if (code >= 400) this.#refusal ||= code;
    if (this.#answers === 3 && code === 354) {
      writeNumber(this.message, this.numberAt, this.number, DIGITS);
      this.#socket?.write(this.message);
    } else if (this.#answers >= 3) {
      this.#done(this.#refusal || code);
    }
  }

  #drop() {
    this.#socket = null;
    if (this.#isBusy && !this.#isClosed) this.#done(0);
  }

  /** @param {number} code */
  #done(code) {
    this.#isBusy = false;
    this.onAnswer(this, code);
  }
}

class Run {
  #sent = 0;
  #accepted = 0;
  #failed = 0;
  #due = 0;
  #isStopping = false;
  /** @type {Record<string, number>} */
  #refusals = {};
  /** @type {MailConnection[]} */
  #free = [];
  /** @type {NodeJS.Timeout | undefined} */
  #ticker;

  /** @param {Order} order */
  constructor(order) {
    this.order = order;
    this.sentAt = new Float64Array(MESSAGES_MAX);
    this.acceptedAt = new Float64Array(MESSAGES_MAX);
    const from = order.login?.from ?? SENDER;
    const envelope = `MAIL FROM:<${from}>\r\nRCPT TO:<${order.to}>\r\nDATA\r\n`;
    const message = letter(from, order.to, order.bytes);
    const token = order.login && Buffer.from(`\0bench\0${order.login.key}`).toString('base64');
    const login = token === undefined ? null : `AUTH PLAIN ${token}`;
    for (let i = 0; i < order.connections; i++) {
      const port = /** @type {number} */ (order.ports[i % order.ports.length]);
      const localAddress = `127.0.0.${2 + Math.floor(i / CONNECTIONS_OF_ONE_ADDRESS)}`;
      this.#free.push(
        new MailConnection({ port, localAddress, login, envelope, message }, (connection, code) =>
          this.#answered(connection, code),
        ),
      );
    }
    this.connections = [...this.#free];
    this.startedAt = nowMs();
    const { perSecond } = order;
    if (perSecond !== undefined) this.#ticker = setInterval(() => this.#tick(perSecond), TICK_MS);
    this.#pump();
  }

  /** Number of accepted messages. */
  get accepted() {
    return this.#accepted;
  }

  /** Stops sending, waits for the last answers, and returns the times at which messages were sent and accepted. */
  async stop() {
    this.#isStopping = true;
    clearInterval(this.#ticker);
    for (
      const giveUpAt = nowMs() + LAST_ANSWERS_MS;
      this.#accepted + this.#failed < this.#sent && nowMs() < giveUpAt;
    ) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (const connection of this.connections) connection.close();
    const [sentAt, acceptedAt] = [this.sentAt.slice(0, this.#sent), this.acceptedAt.slice(0, this.#sent)];
    return { sentAt, acceptedAt, accepted: this.#accepted, refusals: this.#refusals };
  }

  #budget() {
    if (this.#isStopping) return 0;
    const { perSecond, count } = this.order;
    return perSecond === undefined ? (count ?? Infinity) - (this.#sent - this.#failed) : this.#due - this.#sent;
  }

  #pump() {
    for (let budget = this.#budget(); budget > 0 && this.#free.length > 0; budget--) {
      const index = this.#sent++;
      this.sentAt[index] = nowMs();
      this.#free.shift()?.send(this.order.first + index);
    }
  }

  /** @param {number} perSecond */
  #tick(perSecond) {
    this.#due = Math.ceil(((nowMs() - this.startedAt) * perSecond) / 1000);
    this.#pump();
  }

  /** @param {MailConnection} connection @param {number} code */
  #answered(connection, code) {
    if (code === 250) {
      this.acceptedAt[connection.number - this.order.first] = nowMs();
      this.#accepted++;
      this.#free.push(connection);
      return this.#pump();
    }
    this.#failed++;
    this.#refusals[code] = (this.#refusals[code] ?? 0) + 1;
    setTimeout(() => {
      this.#free.push(connection);
      this.#pump();
    }, PAUSE_MS);
  }
}

/**
 * Starts a DNS server that answers every query with "no such name", so that sender lookups need no external network.
 */
async function startNameServer() {
  const socket = dgram.createSocket('udp4');
  socket.on('message', (query, peer) => {
    const answer = Buffer.from(query);
    answer.writeUInt16BE(0x8583, 2);
    socket.send(answer, peer.port, peer.address);
  });
  await new Promise((resolve) => socket.bind(0, '127.0.0.1', () => resolve(undefined)));
  return `127.0.0.1:${socket.address().port}`;
}

const names = await startNameServer();
/** @type {Run | null} */
let run = null;

answerQuestions({
  names: () => names,
  start: (/** @type {Order} */ order) => {
    run = new Run(order);
  },
  accepted: () => run?.accepted,
  stop: () => run?.stop(),
});

/**
 * The load generator of the bench, in a separate process. A run has one of four forms:
 *
 * - `backlog`: each connection sends its next message as soon as the last one is answered, while at most `backlog`
 * accepted messages wait for delivery. The sustained rate then includes delivery, not only acceptance.
 * - `perSecond`: a fixed schedule that does not depend on the answers. Latency is measured from the scheduled send time
 * (no coordinated omission), so a stall of the service increases the latency of every message that it delayed.
 * - `count`: sends `count` messages as fast as they are accepted (within `backlog`, if it is also given).
 * - none of these: as with `backlog`, but any number of accepted messages may wait for delivery.
 */
import net from 'node:net';
import { nowMs } from './clock.mjs';
import { Connection, template } from './connection.mjs';
import { answerQuestions, MESSAGES_MAX } from './protocol.mjs';

const TICK_MS = 1;
/** Pause after a refused message or a broken connection, so that the generator does not overload a busy service. */
const PAUSE_MS = 10;
const LAST_ANSWERS_MS = 10_000;

/** @typedef {{ backlog?: number, perSecond?: number, count?: number }} Form */
/** @typedef {Parameters<typeof template>[0]} Request */
/** `accepts`: the HTTP status of an accepted message. */
/**
 * `copies`: number of copies of each message that reach the receiver.
 *
 * @typedef {Form & { ports: number[], connections: number, countsPort: number, first: number, request: Request,
 * accepts: number, copies: number }} Order
 */

class Run {
  #sent = 0;
  #accepted = 0;
  #failed = 0;
  #received = 0;
  #due = 0;
  #isStopping = false;
  /** @type {Record<string, number>} */
  #refusals = {};
  /** @type {Connection[]} */
  #free = [];
  /** @type {NodeJS.Timeout | undefined} */
  #ticker;

  /** @param {Order} order */
  constructor(order) {
    this.order = order;
    this.sentAt = new Float64Array(MESSAGES_MAX);
    this.acceptedAt = new Float64Array(MESSAGES_MAX);
    const bytes = template(order.request);
    const onAnswer = (/** @type {Connection} */ connection, /** @type {number} */ status) =>
      this.#answered(connection, status);
    for (let i = 0; i < order.connections; i++) {
      this.#free.push(new Connection(/** @type {number} */ (order.ports[i % order.ports.length]), bytes, onAnswer));
    }
    this.connections = [...this.#free];
    this.counts = net.connect(order.countsPort, '127.0.0.1');
    this.counts.on('data', (chunk) => this.#delivered(chunk));
    this.startedAt = nowMs();
    if (order.perSecond !== undefined) this.#ticker = setInterval(() => this.#tick(order.perSecond ?? 0), TICK_MS);
    this.#pump();
  }

  /** Stops sending, waits for the last answers, and returns the times at which messages were sent and accepted. */
  async stop() {
    this.#isStopping = true;
    clearInterval(this.#ticker);
    await this.#until(() => this.#accepted + this.#failed === this.#sent);
    for (const connection of this.connections) connection.close();
    this.counts.destroy();
    return {
      sentAt: this.sentAt.slice(0, this.#sent),
      acceptedAt: this.acceptedAt.slice(0, this.#sent),
      accepted: this.#accepted,
      refusals: this.#refusals,
    };
  }

  /** Number of accepted messages. */
  get accepted() {
    return this.#accepted;
  }

  /** Returns the number of messages that may be sent now. */
  #budget() {
    const { backlog, count, perSecond } = this.order;
    const taken = this.#sent - this.#failed;
    if (this.#isStopping) return 0;
    if (perSecond !== undefined) return this.#due - this.#sent;
    return Math.min((backlog ?? Infinity) / this.order.copies - (taken - this.#received), (count ?? Infinity) - taken);
  }

  #pump() {
    for (let budget = this.#budget(); budget > 0 && this.#free.length > 0; budget--) {
      const index = this.#sent++;
      this.sentAt[index] = this.#leavesAt(index);
      this.#free.shift()?.send(this.order.first + index);
    }
  }

  /** @param {number} index */
  #leavesAt(index) {
    const { perSecond } = this.order;
    return perSecond === undefined
      ? nowMs()
      : this.startedAt + Math.floor((index * 1000) / perSecond / TICK_MS) * TICK_MS;
  }

  /** @param {number} perSecond */
  #tick(perSecond) {
    const ticks = Math.floor((nowMs() - this.startedAt) / TICK_MS) + 1;
    this.#due = Math.ceil((ticks * TICK_MS * perSecond) / 1000);
    this.#pump();
  }

  /** @param {Connection} connection @param {number} status */
  #answered(connection, status) {
    if (status === this.order.accepts) {
      this.acceptedAt[connection.number - this.order.first] = nowMs();
      this.#accepted++;
      this.#free.push(connection);
      this.#pump();
      return;
    }
    this.#failed++;
    this.#refusals[status] = (this.#refusals[status] ?? 0) + 1;
    setTimeout(() => {
      this.#free.push(connection);
      this.#pump();
    }, PAUSE_MS);
  }

  /** @param {Buffer} chunk */
  #delivered(chunk) {
    // The receiver sends each count as 4 bytes. A chunk that ends in the middle of a count is ignored, because a newer
    // count follows.
    if (chunk.length % 4 !== 0) return;
    this.#received = chunk.readUInt32LE(chunk.length - 4) / this.order.copies;
    this.#pump();
  }

  /** @param {() => boolean} isDone */
  async #until(isDone) {
    for (const giveUpAt = nowMs() + LAST_ANSWERS_MS; !isDone() && nowMs() < giveUpAt;) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** @type {Run | null} */
let run = null;

answerQuestions({
  start: (/** @type {Order} */ order) => {
    run = new Run(order);
  },
  accepted: () => run?.accepted,
  stop: () => run?.stop(),
});

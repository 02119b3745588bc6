/**
 * Counts the messages that a receiver gets, reports the count to the load generator, and keeps the arrival times for
 * the command.
 */
import net from 'node:net';
import { nowMs } from './clock.mjs';
import { DIGITS, MARK, MESSAGES_MAX, readNumber } from './protocol.mjs';

const MARK_BYTE = MARK.charCodeAt(0);
const REPORT_EVERY_MS = 2;

let receivedAt = new Float64Array(MESSAGES_MAX);
let first = 0;
let highest = -1;
let unique = 0;
let total = 0;

/**
 * Records the messages in a chunk. A message with several copies has one entry for each copy.
 *
 * @param {Buffer} chunk @param {number} from @param {number} to
 */
export function count(chunk, from, to, copy = 0, copies = 1) {
  const mark = chunk.indexOf(MARK_BYTE, from);
  if (mark < 0 || mark + DIGITS >= to) return;
  const index = (readNumber(chunk, mark + 1) - first) * copies + copy;
  // Do not count a late message of an earlier row.
  if (index < 0 || index >= MESSAGES_MAX) return;
  total++;
  if (receivedAt[index] !== 0) return;
  receivedAt[index] = nowMs();
  unique++;
  if (index > highest) highest = index;
}

/**
 * Sends the load generator the number of received messages, as 4 bytes, whenever the number has changed.
 *
 * @param {net.Socket} socket
 */
export function reportCounts(socket) {
  let reported = -1;
  const timer = setInterval(() => {
    if (reported === unique) return;
    reported = unique;
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32LE(unique);
    socket.write(bytes);
  }, REPORT_EVERY_MS);
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearInterval(timer));
}

/** @param {(socket: net.Socket) => void} serve @returns {Promise<{ port: number, close(): void }>} */
export async function listen(serve) {
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port, close };
}

/** Handlers for messages from the parent process about the counts. */
export const tally = {
  /** Starts a row. Its messages are numbered from `first`. */
  reset: (/** @type {{ first: number }} */ question) => {
    receivedAt = new Float64Array(MESSAGES_MAX);
    ({ first } = question);
    [highest, unique, total] = [-1, 0, 0];
  },
  unique: () => unique,
  /**
   * Returns the result of the row so far. Contains the first arrival time of each message, ordered by message number,
   * or 0 for a message that did not arrive.
   */
  collect: () => ({ receivedAt: receivedAt.slice(0, highest + 1), unique, total }),
};

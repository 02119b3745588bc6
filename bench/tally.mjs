/** Counts the messages that a receiver gets, and records their arrival times. */
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
 * Records the messages in a chunk of received bytes. Each copy of a message is recorded separately.
 *
 * @param {Buffer} chunk @param {number} from @param {number} to
 */
export function count(chunk, from, to, copy = 0, copies = 1) {
  const mark = chunk.indexOf(MARK_BYTE, from);
  if (mark < 0 || mark + DIGITS >= to) return;
  const index = (readNumber(chunk, mark + 1) - first) * copies + copy;
  // Ignores a late message that belongs to a row measured earlier.
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

/** Handlers for the messages with which the parent process resets and reads the counts. */
export const tally = {
  /** Resets the counts for a new row, whose messages are numbered from `first`. */
  reset: (/** @type {{ first: number }} */ question) => {
    receivedAt = new Float64Array(MESSAGES_MAX);
    ({ first } = question);
    [highest, unique, total] = [-1, 0, 0];
  },
  unique: () => unique,
  /**
   * Returns the counts, and the first arrival time of each message by its number. The time of a missing message is 0.
   */
  collect: () => ({ receivedAt: receivedAt.slice(0, highest + 1), unique, total }),
};

/**
 * The receiver of the bench, in a separate process: a raw HTTP/1.1 server that answers and counts.
 *
 * - `/ok` answers 200 at once and records the first arrival of each message number.
 * - `/copy?3/100` does the same for the third of a hundred copies of a message.
 * - `/slow?ms=100` does the same after a delay.
 * - `/mute` answers 200 at once, but records nothing.
 * - `/hang`, `/fail` and `/flap` answer 200 until the command `break` (a destination is probed when it is created).
 * Then they never answer, answer 500, or alternate between 200 and 500.
 *
 * A second port, which the command can close, simulates a receiver that refuses connections.
 */
import { answerQuestions } from './protocol.mjs';
import { count, listen, reportCounts, tally } from './tally.mjs';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const ERROR = 'HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n';
const UNREADABLE = 'HTTP/1.1 411 Length Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding:/i;

let isBroken = false;
let flaps = 0;

/**
 * @param {import('node:net').Socket} socket
 * @param {string} head
 * @param {Buffer} chunk
 * @param {number} bodyAt
 * @param {number} end
 */
function answer(socket, head, chunk, bodyAt, end) {
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', head.indexOf(' ') + 1));
  if (path === '/ok') {
    socket.write(OK, 'latin1');
    count(chunk, bodyAt, end);
  } else if (path.startsWith('/copy?')) {
    socket.write(OK, 'latin1');
    const slash = path.indexOf('/', 6);
    count(chunk, bodyAt, end, Number(path.slice(6, slash)), Number(path.slice(slash + 1)));
  } else if (path.startsWith('/slow?ms=')) {
    count(chunk, bodyAt, end);
    setTimeout(() => socket.write(OK, 'latin1'), Number(path.slice('/slow?ms='.length)));
  } else if (!isBroken || (path === '/flap' && flaps++ % 2 === 0)) {
    socket.write(OK, 'latin1');
  } else if (!path.startsWith('/hang')) {
    socket.write(ERROR, 'latin1');
  }
}

/** @param {import('node:net').Socket} socket */
function converse(socket) {
  /** @type {Buffer | null} */
  let pending = null;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (/** @type {Buffer} */ received) => {
    let chunk = pending === null ? received : Buffer.concat([pending, received]);
    pending = null;
    while (chunk.length > 0) {
      const headEnd = chunk.indexOf(HEAD_END);
      const head = headEnd < 0 ? '' : chunk.toString('latin1', 0, headEnd);
      const length = LENGTH.exec(head);
      if (headEnd >= 0 && length === null && CHUNKED.test(head)) return void socket.end(UNREADABLE);
      const bodyAt = headEnd + HEAD_END.length;
      const end = bodyAt + Number(length?.[1] ?? 0);
      if (headEnd < 0 || chunk.length < end) return void (pending = chunk);
      answer(socket, head, chunk, bodyAt, end);
      chunk = chunk.subarray(end);
    }
  });
}

const main = await listen(converse);
const counts = await listen(reportCounts);
/** @type {{ port: number, close(): void } | null} */
let refusing = null;

answerQuestions({
  ports: () => ({ port: main.port, countsPort: counts.port }),
  open: async () => {
    refusing = await listen(converse);
    return refusing.port;
  },
  /** From now on, `/fail` answers 500, `/hang` never answers, and the second port refuses connections. */
  break: () => {
    isBroken = true;
    refusing?.close();
  },
  mend: () => {
    isBroken = false;
  },
  ...tally,
});

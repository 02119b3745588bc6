import type { FastifyReply, FastifyRequest } from 'fastify';

/** Time that a client has to read the response before the socket is closed. */
const LINGER_MS = 2_000;

/**
 * Maximum bytes of an oversized body that are read and discarded. Many clients read the response only after sending
 * all.
 */
const READ_ON_BYTES_MAX = 64 * 1024 * 1024;
const READ_ON_MS = 10_000;

/** Interval at which the byte limit and the time limit are checked. */
const READ_ON_SWEEP_MS = 50;

/**
 * Responds at once to an oversized body of an authenticated caller, then reads and discards the rest, within limits.
 * Closing at once would reset the connection, and the client might never receive the response.
 */
export function readBodyOn({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete) return;
  reply.header('connection', 'close');
  const { socket } = raw;
  const bytesMax = socket.bytesRead + READ_ON_BYTES_MAX;
  const startedMs = performance.now();
  // Replaces Node's close after the response, so that the connection stays open until the rest of the body is read.
  socket.destroySoon = () => {
    const close = (): void => void socket.destroy();
    socket.end(() => (raw.complete ? close() : raw.once('end', close)));
    const sweep = setInterval(() => {
      if (socket.bytesRead > bytesMax || performance.now() - startedMs > READ_ON_MS) close();
    }, READ_ON_SWEEP_MS);
    socket.once('close', () => clearInterval(sweep));
  };
}

/**
 * Rejects a request without reading its body, so that unauthenticated clients cannot make the server read data. The
 * unread body follows on the connection, so the connection must be closed.
 *
 * Closing the socket at once would reset the connection, and the client might lose the response. After the response,
 * Posthorn therefore closes only its own direction, and the socket two seconds later.
 */
export function leaveBodyUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (encoding === undefined && (length === undefined || Number(length) === 0)) return;
  reply.header('connection', 'close');
  // After the response, Node reads a request body that no code has started to read. Starting to read and pausing
  // immediately prevents this.
  raw.pause();
  raw.read(0);
  const { socket } = raw;
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

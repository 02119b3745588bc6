import type { FastifyReply, FastifyRequest } from 'fastify';

/** Time in which a client can read the answer before the connection is closed. */
const LINGER_MS = 2_000;

/** Maximum of an oversized body that is discarded. Many clients read no answer before they have sent all. */
const READ_ON_BYTES_MAX = 64 * 1024 * 1024;
const READ_ON_MS = 10_000;

/** Interval of the check of these limits. */
const READ_ON_SWEEP_MS = 50;

/**
 * Answers an oversized body of an authenticated sender at once, then reads and discards the rest, within limits.
 * Closing at once would reset the connection, and the client might never see the answer.
 */
export function readBodyOn({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete) return;
  reply.header('connection', 'close');
  const { socket } = raw;
  const bytesMax = socket.bytesRead + READ_ON_BYTES_MAX;
  const startedMs = performance.now();
  // Node reads on by itself after the answer, and would then close the connection.
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
 * Rejects a request without reading its body, so that unauthenticated clients cannot make the server read data.
 *
 * The connection must close, because the rest of the stream is that body: the sending side after the answer, the whole
 * socket a moment later. Closing at once with unread bytes would reset it, and the client might lose the answer.
 */
export function leaveBodyUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (encoding === undefined && (length === undefined || Number(length) === 0)) return;
  reply.header('connection', 'close');
  // After the answer, Node reads a body to its end if nothing has read from it. A body that was started and
  // paused stays unread.
  raw.pause();
  raw.read(0);
  const { socket } = raw;
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

import type { FastifyReply, FastifyRequest } from 'fastify';

/** How long a client has to read the answer before the connection breaks. */
const LINGER_MS = 2_000;

/**
 * What is read on of a body that is too large, and for how long: many clients read no answer before they have sent
 * theirs.
 */
const READ_ON_BYTES_MAX = 64 * 1024 * 1024;
const READ_ON_MS = 10_000;

/** How often that is looked at. */
const READ_ON_SWEEP_MS = 50;

/**
 * Refuses a body whose sender is known and which is too large: the answer goes out at once, and the rest is read and
 * thrown away, within bounds. Closed at once, the connection would break under the client's hands, and it might never
 * see the answer.
 */
export function readBodyOn({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete) return;
  reply.header('connection', 'close');
  const { socket } = raw;
  const bytesMax = socket.bytesRead + READ_ON_BYTES_MAX;
  const startedMs = performance.now();
  // Node reads on by itself, once the answer is out; it would close the connection then.
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
 * Refuses a request without reading its body: strangers can't make us take in what they like to send. The connection
 * closes, since what follows on it is that body: our side after the answer, and all of it a moment later. Closed at
 * once with unread bytes it would be reset, and the client might lose the answer.
 */
export function leaveBodyUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (encoding === undefined && (length === undefined || Number(length) === 0)) return;
  reply.header('connection', 'close');
  // A body that nobody has begun to read is read to its end by Node, once the answer is out. Begun and paused, it
  // waits.
  raw.pause();
  raw.read(0);
  const { socket } = raw;
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

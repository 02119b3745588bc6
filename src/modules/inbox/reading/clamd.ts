import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { ScanVerdict } from '#engine/mail/mail-verdicts.js';

const CHUNK_BYTES = 64 * 1024;
const ANSWER_BYTES_MAX = 4 * 1024;

/**
 * Returns clamd's reply to an INSTREAM command. Each chunk is preceded by its length in four bytes. Length 0 ends the
 * data.
 */
export async function scanWithClamd(socket: Duplex, raw: Buffer): Promise<string> {
  const answer = readAnswer(socket);
  try {
    socket.write('zINSTREAM\0');
    for (let at = 0; at < raw.length; at += CHUNK_BYTES) {
      const chunk = raw.subarray(at, at + CHUNK_BYTES);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(chunk.length);
      socket.write(length);
      // clamd replies and closes the connection as soon as the data exceeds its limit.
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), answer]);
      if (socket.destroyed || socket.writableEnded) break;
    }
    socket.write(Buffer.alloc(4));
    return await answer;
  } finally {
    socket.destroy();
  }
}

/** Parses the reply: `stream: OK`, `stream: NAME FOUND`, or an error, such as an exceeded size limit. */
export function clamdVerdict(answer: string): ScanVerdict {
  const said = answer.replace(/\0.*$/s, '').trim();
  if (/^stream: OK$/.test(said)) return 'pass';
  return /^stream: .+ FOUND$/.test(said) ? 'fail' : 'processing_failed';
}

function readAnswer(socket: Duplex): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const end = (): void => resolve(said);
    socket.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1');
      if (said.includes('\0') || said.length > ANSWER_BYTES_MAX) end();
    });
    socket
      .once('end', end)
      .once('close', end)
      .once('error', (error) => (said === '' ? reject(error) : end()));
  });
}

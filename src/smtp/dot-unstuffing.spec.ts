import fc from 'fast-check';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { unstuffByChunk } from './dot-unstuffing.js';

interface Read {
  messages: string[];
  bytes: number[];
  commands: string[];
}

/** Feeds chunks to a parser in data mode, which returns to data mode at each command `DATA`. */
async function read(parser: SMTPStream, chunks: readonly string[]): Promise<Read> {
  const found: Read = { messages: [], bytes: [], commands: [] };
  const receive = (): void => {
    const at = found.messages.push('') - 1;
    const stream = parser.startDataMode();
    stream.on('data', (chunk: Buffer) => (found.messages[at] += chunk.toString('latin1')));
    stream.on('end', () => {
      found.bytes[at] = stream.byteLength;
      parser.continue();
    });
  };
  parser.oncommand = (command, callback) => {
    found.commands.push(command.toString('latin1'));
    setImmediate(() => {
      if (command.toString() === 'DATA') receive();
      callback?.();
    });
  };
  receive();
  for (const chunk of chunks)
    await new Promise<void>((resolve) => {
      parser.write(Buffer.from(chunk, 'latin1'), () => resolve());
    });
  return found;
}

/** Stuffs the lines of a message as a client does (RFC 5321, section 4.5.2). */
const stuffed = (text: string): string => `${`\r\n${text}`.replaceAll('\r\n.', '\r\n..').slice(2)}\r\n.\r\n`;

const pieces = fc.array(fc.constantFrom('.', '..', '\r', '\n', '\r\n', 'a', '\r\n.\r\n', 'DATA\r\n', '\r\n..\r\n'), {
  maxLength: 40,
});
const cuts = fc.array(fc.constantFrom(1, 2, 3, 4, 5, 7, 30, 1_000), { minLength: 1, maxLength: 20 });

function cut(text: string, sizes: readonly number[]): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += chunks.at(-1)?.length ?? 0)
    chunks.push(text.slice(at, at + (sizes[chunks.length % sizes.length] ?? 1)));
  return chunks;
}

describe('unstuffByChunk', () => {
  it('returns the messages and commands that smtp-server returns, for any bytes in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, cuts, async (parts, sizes) => {
        const chunks = cut(`${parts.join('')}\r\n.\r\n`, sizes);
        expect(await read(unstuffByChunk(new SMTPStream()), chunks)).toEqual(await read(new SMTPStream(), chunks));
      }),
      { numRuns: 3_000 },
    );
  });

  it('returns each message as its client wrote it, and nothing of it as a command', async () => {
    const lines = fc
      .array(fc.constantFrom('', '.', '..', '...', 'a', '.a', 'QUIT', 'a.', 'DATA'), { minLength: 1, maxLength: 20 })
      .map((all) => all.join('\r\n'));
    await fc.assert(
      fc.asyncProperty(lines, lines, cuts, async (first, second, sizes) => {
        const chunks = cut(`${stuffed(first)}DATA\r\n${stuffed(second)}QUIT\r\n`, sizes);
        expect(await read(unstuffByChunk(new SMTPStream()), chunks)).toEqual({
          messages: [`${first}\r\n`, `${second}\r\n`],
          bytes: [first.length + 2, second.length + 2],
          commands: ['DATA', 'QUIT'],
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('writes one piece per chunk, and waits until the message is read', async () => {
    const parser = unstuffByChunk(new SMTPStream());
    const stream = parser.startDataMode();
    let written = 0;
    parser.write(Buffer.from('..\r\n'.repeat(16_000)), () => (written += 1));
    await new Promise((resolve) => setTimeout(resolve, 20));

    expect([written, stream.readableLength > 0, stream.byteLength]).toEqual([0, true, 16_000 * 3 - 3]);
    const sizes: number[] = [];
    stream.on('data', (chunk: Buffer) => sizes.push(chunk.length));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([written, sizes]).toEqual([1, [16_000 * 3 - 3]]);
  });
});

import { EmbeddedPostgresError } from './failure.js';

const BLOCK = 512;

export interface TarEntry {
  /** Path as stored in the tar file: relative, with slashes. */
  name: string;
  kind: 'file' | 'directory';
  mode: number;
  bytes: number;
  /** Before it requests the next tar entry, the consumer must read the content either completely or not at all. */
  content: AsyncIterable<Buffer>;
}

/** Returns a complete file in tar format (POSIX ustar): header, content, and zeros up to the next block. */
export function tarFile(name: string, content: Buffer, mode = 0o600): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100);
  octal(header, 100, 8, mode);
  octal(header, 108, 8, 0);
  octal(header, 116, 8, 0);
  octal(header, 124, 12, content.length);
  octal(header, 136, 12, 0);
  header.write('0', 156);
  header.write('ustar\0' + '00', 257, 'latin1');
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([header, content, Buffer.alloc(paddingOf(content.length))]);
}

/**
 * Yields the entries of a tar file in order. Supports the entry types of a base backup: files and directories.
 *
 * @throws EmbeddedPostgresError if the source is not a tar file, is truncated, or contains another entry type.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const blocks = new ByteReader(source);
  for (;;) {
    const header = await blocks.take(BLOCK);
    if (header.every((byte) => byte === 0)) {
      await blocks.drain();
      return;
    }
    const entry = entryOf(header);
    const body = blocks.stream(entry.bytes);
    yield { ...entry, content: body };
    // Skips content that the consumer did not read.
    for (const rest = body[Symbol.asyncIterator](); !(await rest.next()).done;);
    await blocks.take(paddingOf(entry.bytes));
  }
}

class ByteReader {
  private readonly source: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  async take(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let missing = bytes; missing > 0;) {
      const part = await this.some(missing);
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Yields the next `bytes` bytes, in chunks of any size. A second iteration continues where the first one stopped. */
  stream(bytes: number): AsyncIterable<Buffer> {
    let missing = bytes;
    const next = async (): Promise<IteratorResult<Buffer>> => {
      if (missing === 0) return { done: true, value: undefined };
      const value = await this.some(missing);
      missing -= value.length;
      return { done: false, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** Reads to the end, so that the checksum of the whole file is verified. */
  async drain(): Promise<void> {
    for (let end = false; !end;) end = (await this.source.next()).done ?? false;
  }

  private async some(max: number): Promise<Buffer> {
    while (this.rest.length === 0) {
      const next = await this.source.next();
      if (next.done === true) throw new EmbeddedPostgresError('it is cut off');
      this.rest = next.value;
    }
    const part = this.rest.subarray(0, max);
    this.rest = this.rest.subarray(part.length);
    return part;
  }
}

function entryOf(header: Buffer): Omit<TarEntry, 'content'> {
  if (text(header, 257, 5) !== 'ustar' || numberAt(header, 148, 8) !== checksum(header))
    throw new EmbeddedPostgresError('it is damaged, or not a tar file');
  const prefix = text(header, 345, 155);
  const name = (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100);
  const type = text(header, 156, 1);
  if (type !== '' && type !== '0' && type !== '5')
    throw new EmbeddedPostgresError(`it contains ${name}, which is neither a file nor a directory`);
  return {
    name: name.replace(/\/$/, ''),
    kind: type === '5' ? 'directory' : 'file',
    mode: numberAt(header, 100, 8) & 0o777,
    bytes: numberAt(header, 124, 12),
  };
}

function octal(header: Buffer, at: number, length: number, value: number): void {
  header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, length, 'latin1');
}

/** Parses an octal number (ustar). Sizes above 8 GiB need another format, but PostgreSQL writes no such files. */
function numberAt(header: Buffer, at: number, length: number): number {
  const digits = text(header, at, length).trim();
  if (!/^[0-7]*$/.test(digits)) throw new EmbeddedPostgresError('it is damaged, or not a tar file');
  return parseInt(digits || '0', 8);
}

function text(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString();
}

/** Returns the sum of the header's bytes, with its checksum field counted as spaces. */
function checksum(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function paddingOf(bytes: number): number {
  return (BLOCK - (bytes % BLOCK)) % BLOCK;
}

import { createServer, request, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { jest } from '@jest/globals';
import { coalesceSocketWrites, type PendingChunk, type WritingConnection } from './coalesced-writes.js';

const text = (chunk: string): PendingChunk => ({ chunk, encoding: 'utf8' });
const NOTHING: PendingChunk = { chunk: '', encoding: 'latin1' };

function connection() {
  const writev = jest.fn<NonNullable<WritingConnection['_writev']>>();
  const made = { _write: jest.fn<WritingConnection['_write']>(), _writev: writev };
  coalesceSocketWrites(made);
  return { made, writev };
}

describe('coalesceSocketWrites', () => {
  it.each([
    { what: 'text before an empty chunk', chunks: [text('head and body'), NOTHING], at: 0 },
    { what: 'text behind an empty chunk', chunks: [NOTHING, text('body')], at: 1 },
    { what: 'bytes', chunks: [{ chunk: Buffer.from('bytes'), encoding: 'buffer' as const }, NOTHING], at: 0 },
  ])('writes $what at once', ({ chunks, at }) => {
    const { made, writev } = connection();
    const done = jest.fn();

    made._writev(chunks, done);

    expect(made._write).toHaveBeenCalledWith(chunks[at]?.chunk, chunks[at]?.encoding, done);
    expect(writev).not.toHaveBeenCalled();
  });

  it.each([
    { chunks: [text('a'), text('b')] },
    { chunks: [text('a'), NOTHING, text('b')] },
    { chunks: [NOTHING, NOTHING] },
  ])('does not change other writes', ({ chunks }) => {
    const { made, writev } = connection();
    const done = jest.fn();

    made._writev(chunks, done);

    expect(writev).toHaveBeenCalledWith(chunks, done);
    expect(made._write).not.toHaveBeenCalled();
  });

  it('does not change a connection without writev', () => {
    const plain: WritingConnection = { _write: jest.fn(), _writev: null };

    coalesceSocketWrites(plain);

    expect(plain._writev).toBeNull();
  });
});

describe('coalesceSocketWrites on a server', () => {
  let server: Server;
  let gathered: number;

  beforeEach(async () => {
    gathered = 0;
    server = createServer((asked, answer) => {
      if (asked.url === '/pieces') {
        answer.write('höher ');
        answer.write(Buffer.from('and '));
        answer.end('on');
      } else answer.writeHead(200, { 'content-length': Buffer.byteLength('schön') }).end('schön');
    });
    server.on('connection', (socket: Socket & WritingConnection) => {
      const { _writev: writev } = socket;
      socket._writev = (chunks, done) => {
        gathered += 1;
        writev?.call(socket, chunks, done);
      };
      coalesceSocketWrites(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const get = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', path, agent: false }, (answer) => {
        let body = '';
        answer
          .setEncoding('utf8')
          .on('data', (piece: string) => (body += piece))
          .on('end', () => resolve(body));
      })
        .on('error', reject)
        .end();
    });

  it('sends an answer unchanged in one write', async () => {
    expect(await get('/')).toBe('schön');
    expect(gathered).toBe(0);
  });

  it('still uses writev for an answer in pieces', async () => {
    expect(await get('/pieces')).toBe('höher and on');
    expect(gathered).toBeGreaterThan(0);
  });
});

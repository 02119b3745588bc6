import net from 'node:net';
import type { ApiAnswer, PosthornServer } from '../support/server.js';

/** Everything received on a connection: the complete answers, and whether the server ended the connection. */
export interface RawExchange {
  readonly answers: readonly ApiAnswer[];
  readonly text: string;
  readonly ended: boolean;
}

const TIME_LIMIT_MS = 10_000;

/**
 * Writes bytes on a new connection. Returns what the server sends until `count` final answers have arrived or the
 * connection ends.
 */
export function exchangeBytes(server: PosthornServer, bytes: string | Buffer, count = 1): Promise<RawExchange> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes));
    const finish = (ended: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({
        answers: parseAnswers(received).filter(({ status }) => status >= 200),
        text: received.toString('latin1'),
        ended,
      });
    };
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No answer within ${TIME_LIMIT_MS} ms; so far: ${received.toString('latin1')}`));
    }, TIME_LIMIT_MS);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (parseAnswers(received).filter(({ status }) => status >= 200).length >= count) finish(false);
    });
    socket.on('close', () => finish(true));
    // Ignores a reset, because the bytes received before it are still valid.
    socket.on('error', () => undefined);
  });
}

/** Returns an HTTP request as text with CRLF line ends. Adds Content-Length for a body. */
export function requestText(line: string, headers: Record<string, string> = {}, body = ''): string {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host: 'localhost', ...length, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `${[`${line} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

function parseAnswers(received: Buffer): ApiAnswer[] {
  const answers: ApiAnswer[] = [];
  for (let rest = received; rest.length > 0;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) break;
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n');
    const headers = new Headers(
      lines.map((line): [string, string] => [
        line.slice(0, line.indexOf(':')),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const end = headEnd + 4 + Number(headers.get('content-length') ?? 0);
    if (rest.length < end) break;
    const text = rest.subarray(headEnd + 4, end).toString();
    answers.push({
      status: Number(statusLine.split(' ')[1]),
      headers,
      text,
      json: text.startsWith('{') ? JSON.parse(text) : undefined,
    });
    rest = rest.subarray(end);
  }
  return answers;
}

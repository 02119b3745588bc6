import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';

export interface OwnRequest {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  timeoutMs: number;
  answerBytesMax: number;
}

/**
 * Connects to services that the operator runs and configures, such as mail scanners. The egress policy, which blocks
 * private networks, does not apply, because tenants cannot influence the destination.
 */
@Injectable()
export class OwnServices {
  /** Posts a body. Resolves with the body of a successful response. Rejects for other responses and on timeout. */
  post(url: URL, { headers, body, timeoutMs, answerBytesMax }: OwnRequest): Promise<Buffer> {
    const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerValue(value)]));
    return new Promise((resolve, reject) => {
      const sent = send(
        url,
        {
          method: 'POST',
          headers: { ...plain, 'content-length': body.length },
          signal: AbortSignal.timeout(timeoutMs),
        },
        (answer) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          answer.on('error', reject).on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > answerBytesMax) sent.destroy(new Error('The response is too long.'));
            else chunks.push(chunk);
          });
          answer.on('end', () =>
            answer.statusCode === 200
              ? resolve(Buffer.concat(chunks))
              : reject(new Error(`It answered ${answer.statusCode}.`)),
          );
        },
      );
      sent.on('error', reject).end(body);
    });
  }

  /** Opens a connection that is destroyed with an error after `timeoutMs`. */
  open({ hostname, port }: { hostname: string; port: number }, timeoutMs: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port });
      const late = setTimeout(() => socket.destroy(new Error('The time limit was exceeded.')), timeoutMs);
      socket
        .once('error', reject)
        .once('close', () => clearTimeout(late))
        .once('connect', () => {
          socket.off('error', reject);
          // Prevents an unhandled `error` event. The code that reads the socket handles the errors.
          socket.on('error', () => undefined);
          resolve(socket);
        });
    });
  }
}

/** Converts untrusted text from a mail envelope to a valid header value without line breaks. */
function headerValue(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '?').slice(0, 4_096);
}

import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';

/** A request to a service of the operator's. */
export interface OwnRequest {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** For all of it. */
  timeoutMs: number;
  answerBytesMax: number;
}

/**
 * Connections to what the operator runs beside this service and names in its configuration: scanners of mail. Nothing that a tenant
 * says ever chooses where they go, so the policy for destinations, which forbids private networks, is not asked.
 */
@Injectable()
export class OwnServices {
  /** The body of a good answer. Rejects for every other one, and behind the time. */
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
            if (bytes > answerBytesMax) sent.destroy(new Error('Its answer is too long.'));
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

  /** A connection that ends by itself, with an error, after so long. */
  open({ hostname, port }: { hostname: string; port: number }, timeoutMs: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port });
      const late = setTimeout(() => socket.destroy(new Error('It took too long.')), timeoutMs);
      socket
        .once('error', reject)
        .once('close', () => clearTimeout(late))
        .once('connect', () => {
          socket.off('error', reject);
          // Whoever reads it hears of errors; nobody else has to.
          socket.on('error', () => undefined);
          resolve(socket);
        });
    });
  }
}

/** What a header may hold, and no line end: an envelope is what a stranger said. */
function headerValue(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '?').slice(0, 4_096);
}

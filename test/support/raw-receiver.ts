import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import net from 'node:net';
import tls from 'node:tls';

/**
 * A request as text, with the number of its connection, and the number of the request on this connection. Both numbers
 * start at 1.
 */
export interface ReceivedRequest {
  text: string;
  connection: number;
  onConnection: number;
}

/** A receiver that writes raw bytes, so that it can also send invalid HTTP. */
export interface RawReceiver {
  server: Server;
  port: number;
  requests: ReceivedRequest[];
  connections: number;
  openSockets: Set<Socket>;
  close(): Promise<void>;
}

export interface RawReceiverOptions {
  host?: string;
  port?: number;
  tls?: { cert: string; key: string };
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok';

/** Starts a receiver that calls `answer` once for each complete request. */
export async function rawReceiver(
  answer: (socket: Socket, request: ReceivedRequest) => void = (socket) => socket.write(OK),
  options: RawReceiverOptions = {},
): Promise<RawReceiver> {
  const serve = (socket: Socket): void => {
    const connection = ++receiver.connections;
    let onConnection = 0;
    let pending = '';
    receiver.openSockets.add(socket);
    socket.on('close', () => receiver.openSockets.delete(socket)).on('error', () => undefined);
    socket.on('data', (bytes) => {
      pending += bytes.toString('latin1');
      for (let length = requestLength(pending); length !== null; length = requestLength(pending)) {
        const request = { text: pending.slice(0, length), connection, onConnection: ++onConnection };
        pending = pending.slice(length);
        receiver.requests.push(request);
        answer(socket, request);
      }
    });
  };
  const server: Server = options.tls ? tls.createServer(options.tls, serve) : net.createServer(serve);
  server.on('tlsClientError', () => undefined);
  const receiver: RawReceiver = {
    server,
    port: 0,
    requests: [],
    connections: 0,
    openSockets: new Set(),
    close: () => close(server, receiver),
  };
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  receiver.port = (server.address() as AddressInfo).port;
  return receiver;
}

function requestLength(text: string): number | null {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const bodyLength = Number(/^content-length: (\d+)/im.exec(text.slice(0, headEnd))?.[1] ?? 0);
  const length = headEnd + 4 + bodyLength;
  return text.length < length ? null : length;
}

async function close(server: Server, receiver: RawReceiver): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const socket of receiver.openSockets) socket.destroy();
  await closed;
}

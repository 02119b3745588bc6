import net, { type AddressInfo, type Socket } from 'node:net';

/** A mail server that sends scripted replies, including invalid ones. */
export interface ScriptedMailServer {
  port: number;
  /** The command lines that the server received, without the content of messages. */
  lines: string[];
  /** Number of connections so far. */
  readonly connections: number;
  close(): void;
}

/**
 * Starts a server that replies to each command with `script`. Null resets the connection. `undefined` sends nothing.
 * After a 421, the server closes the connection (RFC 5321). Replies to commands of one segment are sent in one segment.
 */
export async function scriptedMailServer(
  script: (line: string) => string | null | undefined,
  greeting: string | null | undefined,
  { address = '127.0.0.1', port = 0 }: { address?: string; port?: number } = {},
): Promise<ScriptedMailServer> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const say = (socket: Socket, text: string | null | undefined): void => {
    if (text === null) socket.resetAndDestroy();
    else if (text?.startsWith('421')) socket.end(`${text}\r\n`);
    else if (text !== undefined) socket.write(`${text}\r\n`);
  };
  const server = net.createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    say(socket, greeting);
    let isMessage = false;
    let rest = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\r\n');
      rest = parts.pop() ?? '';
      socket.cork();
      for (const line of parts) {
        if (socket.writableEnded) break;
        if (isMessage && line !== '.') continue;
        lines.push(line);
        const answer = script(line);
        isMessage = line === 'DATA' && answer?.startsWith('354') === true;
        say(socket, answer);
      }
      socket.uncork();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    lines,
    get connections() {
      return sockets.size;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

import { createServer } from 'node:net';

/**
 * Checks that each port is free by listening on it briefly, so that a start fails before it creates anything. Port 0
 * means any free port and is not checked.
 *
 * @throws the error of `listen`, which contains the port.
 */
export async function assertPortsFree(ports: readonly (number | null)[], host: string): Promise<void> {
  for (const port of ports) if (port !== null && port !== 0) await tryPort(port, host);
}

function tryPort(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

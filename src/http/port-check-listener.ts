import { createServer } from 'node:net';

/**
 * Listens on each of the ports for a moment: a start that could not listen in the end must not have made anything by then.
 * Port 0 is any that is free, and needs no trial.
 *
 * @throws what `listen` throws, with the port in it.
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

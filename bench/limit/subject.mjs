import { fileURLToPath } from 'node:url';
import { freePort, startProgram, stopProcess } from '../processes.mjs';
import { createTables } from './store.mjs';

/**
 * Starts the limit in `count` processes on one database.
 *
 * @param {{ databaseUrl: string, targetUrl: string, count: number }} options
 * @returns {Promise<import('../window.mjs').Subject>}
 */
export async function startLimit({ databaseUrl, targetUrl, count }) {
  await createTables(databaseUrl);
  /** @type {number[]} */
  const ports = [];
  /** @type {import('node:child_process').ChildProcess[]} */
  const children = [];
  for (let i = 0; i < count; i++) {
    const port = await freePort();
    const file = fileURLToPath(new URL('main.mjs', import.meta.url));
    const child = startProgram(file, { DATABASE_URL: databaseUrl, TARGET_URL: targetUrl, PORT: String(port) });
    ports.push(port);
    children.push(child);
    await new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`The limit ended at its start (${code}).`)));
    });
  }
  return {
    ports,
    headers: {},
    destination: 'dst_limit',
    processes: children.map((child) => ({ group: 'service', pid: child.pid ?? 0 })),
    stop: async () => void (await Promise.all(children.map(stopProcess))),
  };
}

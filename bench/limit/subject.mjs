import { fileURLToPath } from 'node:url';
import { freePort, startProgram, stopProcess } from '../processes.mjs';
import { createMailTable, createTables } from './store.mjs';

/**
 * Starts the minimal program that measures the upper limit, in `count` processes on one database.
 *
 * @param {{ databaseUrl: string, targetUrl: string, count: number }} options
 * @returns {Promise<import('../window.mjs').Subject>}
 */
export async function startLimit({ databaseUrl, targetUrl, count }) {
  await createTables(databaseUrl);
  return startBare('main.mjs', count, { DATABASE_URL: databaseUrl, TARGET_URL: targetUrl });
}

/**
 * Starts a minimal program that only receives mail, to measure the upper limit.
 *
 * @param {{ databaseUrl: string, count: number }} options
 */
export async function startMailInLimit({ databaseUrl, count }) {
  await createMailTable(databaseUrl);
  const { ports, ...subject } = await startBare('mail-in.mjs', count, { DATABASE_URL: databaseUrl });
  return { ...subject, ports: [], smtpPorts: ports };
}

/**
 * Starts a minimal program that only sends mail, to measure the upper limit.
 *
 * @param {{ relayPort: number, count: number }} options
 */
export const startMailOutLimit = ({ relayPort, count }) =>
  startBare('mail-out.mjs', count, { RELAY_PORT: String(relayPort) });

/**
 * @param {string} name file name of the program @param {number} count @param {Record<string, string>} environment
 * @returns {Promise<import('../window.mjs').Subject>}
 */
async function startBare(name, count, environment) {
  /** @type {number[]} */
  const ports = [];
  /** @type {import('node:child_process').ChildProcess[]} */
  const children = [];
  for (let i = 0; i < count; i++) {
    const port = await freePort();
    const child = startProgram(fileURLToPath(new URL(name, import.meta.url)), { ...environment, PORT: String(port) });
    ports.push(port);
    children.push(child);
    await new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`The limit exited during its start (${code}).`)));
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

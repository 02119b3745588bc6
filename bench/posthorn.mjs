import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startProgram, stopProcess } from './processes.mjs';

const MAIN = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));
const READY_WITHIN_MS = 60_000;
const POLL_MS = 100;

/** @typedef {'all' | 'api' | 'worker' | 'smtp'} Role */

/**
 * Starts the service with one process per role on an empty database, and creates the destination that always succeeds.
 *
 * @param {{ databaseUrl: string, targetUrl: string, directory: string, roles: Role[], more?: Record<string, string> }}
 * options `more`: additional environment variables
 * @returns {Promise<Required<import('./window.mjs').Subject>>}
 */
export async function startPosthorn({ databaseUrl, targetUrl, directory, roles, more = {} }) {
  if (!existsSync(MAIN)) throw new Error('Nothing is built: npm run build.');
  const { generateApiKey } = await import('../dist/src/modules/auth/keys/api-key.js');
  const key = generateApiKey('live', Buffer.alloc(32, 9));
  /** @type {import('node:child_process').ChildProcess[]} */
  const children = [];
  /** @type {number[]} */
  const ports = [];
  /** @type {number[]} */
  const smtpPorts = [];
  /** @type {number[]} */
  const submissionPorts = [];
  const processes = [];
  for (const role of roles) {
    const port = await freePort();
    const smtpPort = await freePort();
    const submissionPort = await freePort();
    const child = startProgram(MAIN, {
      ...environment(databaseUrl, directory, role, port, key),
      SMTP_PORT: String(smtpPort),
      SUBMISSION_PORT: String(submissionPort),
      ...more,
    });
    children.push(child);
    processes.push({ group: role === 'all' ? 'service' : role, pid: child.pid ?? 0, isTree: 'PROCESSES' in more });
    if (role === 'all' || role === 'api') ports.push(port);
    if (role === 'all' || role === 'smtp') {
      smtpPorts.push(smtpPort);
      submissionPorts.push(submissionPort);
    }
    // Starts the processes one after the other, because the first one migrates the database.
    await untilReady(port, child, Number(more['PROCESSES'] ?? 1));
  }
  const headers = { authorization: `Bearer ${key}` };
  let made = 0;
  /** @type {(method: string, path: string, json?: unknown) => Promise<any>} */
  const call = async (method, path, json) => {
    const body = json === undefined ? undefined : JSON.stringify(json);
    const sent = {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      body,
    };
    const response = await fetch(`http://127.0.0.1:${ports[0]}${path}`, sent);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const createDestination = async (/** @type {{ url: string, perSecond?: number }} */ { url, perSecond }) => {
    const limit = perSecond === undefined ? {} : { rate_limit: { per_second: perSecond } };
    const { id } = await call('POST', '/v1/destinations', { name: `bench ${++made}`, type: 'https', url, ...limit });
    return /** @type {string} */ (id);
  };
  const destination = await createDestination({ url: targetUrl });
  return {
    ports,
    smtpPorts,
    submissionPorts,
    key,
    headers,
    destination,
    processes,
    createDestination,
    call,
    stop: async () => void (await Promise.all(children.map(stopProcess))),
  };
}

/**
 * @param {string} databaseUrl @param {string} directory @param {Role} role @param {number} port @param {string} key
 * @returns {Record<string, string>}
 */
function environment(databaseUrl, directory, role, port, key) {
  return {
    ROLE: role,
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: path.join(directory, `service-${port}`),
    DATABASE_URL: databaseUrl,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BOOTSTRAP_API_KEY: key,
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    EGRESS_ALLOW_HTTP: 'true',
    RATE_LIMIT_KEY: 'off',
    RATE_LIMIT_ORG: 'off',
    LOG_LEVEL: 'warn',
    SHUTDOWN_GRACE: '0s',
  };
}

/**
 * @param {number} port
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} count processes that serve behind the port
 */
async function untilReady(port, child, count) {
  for (const giveUpAt = performance.now() + READY_WITHIN_MS; performance.now() < giveUpAt;) {
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null) throw new Error(`Posthorn exited during its start (${ended}).`);
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => null);
    await response?.arrayBuffer();
    if (response?.status === 200 && (count === 1 || (await processesBehind(port)) === count)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`Posthorn was not ready within ${READY_WITHIN_MS / 1000} s.`);
}

/** @param {number} port */
async function processesBehind(port) {
  const page = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  return page.match(/^posthorn_events_accepted_total\{process="\d+"\}/gm)?.length ?? 0;
}

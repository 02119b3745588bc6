/** Starts and stops the processes of the bench. */
import { fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';

const STOP_MS = 15_000;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
let isStopping = false;

/** @template {import('node:child_process').ChildProcess} T @param {T} child @returns {T} */
function remember(child) {
  running.add(child);
  child.once('exit', () => running.delete(child));
  // Kills the process at once if the command was interrupted: `stopEverything` has already run.
  if (isStopping) child.kill('SIGKILL');
  return child;
}

/** @typedef {{ child: import('node:child_process').ChildProcess, ask(question: object): Promise<any> }} Helper */

/** Returns a port that is currently unused. */
export async function freePort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Starts a module of the bench in a child process that responds to messages (see `answerQuestions`).
 *
 * @param {string} name file name in this directory @returns {Helper}
 */
export function startHelper(name) {
  const child = remember(fork(new URL(name, import.meta.url), { serialization: 'advanced' }));
  /** @type {Map<number, { resolve(answer: any): void, reject(error: Error): void }>} */
  const asked = new Map();
  let last = 0;
  child.on('message', (/** @type {{ id: number, answer: unknown }} */ { id, answer }) => {
    asked.get(id)?.resolve(answer);
    asked.delete(id);
  });
  child.on('exit', (code, signal) => {
    for (const { reject } of asked.values()) reject(new Error(`${name} exited early (${code ?? signal}).`));
  });
  const ask = (/** @type {object} */ question) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      asked.set(id, { resolve, reject });
      child.send({ id, ...question }, (error) => error && reject(error));
    });
  return { child, ask };
}

const START = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).scripts.start;

/** V8 options with which `npm start` runs the service. The programs that measure the upper limit get them, too. */
const V8_OPTIONS = START.split(' ').filter((/** @type {string} */ word) => word.startsWith('--'));

/**
 * @param {string} file @param {Record<string, string>} environment
 * @returns {import('node:child_process').ChildProcess} inherits stderr; its output is discarded
 */
export function startProgram(file, environment) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TZ: 'UTC', NODE_ENV: 'production', ...environment };
  return remember(
    spawn(process.execPath, [...V8_OPTIONS, file], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
  );
}

/** Asks a process to exit, and kills it if it does not. @param {import('node:child_process').ChildProcess} child */
export async function stopProcess(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}

/** Kills all running child processes. Processes that are started later are killed at once. */
export async function stopEverything() {
  isStopping = true;
  await Promise.all([...running].map(stopProcess));
}

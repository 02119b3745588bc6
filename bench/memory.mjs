/** Measures the memory of a service and its PostgreSQL server: idle after the start, and at a fixed rate. */
import { readdirSync, readFileSync } from 'node:fs';
import { startPosthorn } from './posthorn.mjs';
import { startSide, stopSide } from './slices.mjs';
import { breakIn, measure, sleep } from './window.mjs';

export const PER_SECOND = 5_000;
/** Wait before memory is measured. Meanwhile, unused connections close, and memory used only by the start is freed. */
const REST_MS = 90_000;
const LOOK_EVERY_MS = 2_000;
const MIB = 1024 * 1024;
const OF_A_CLIENT = /^postgres: \S+ \S+ [\d.:a-f]+\(\d+\)/;

/**
 * Memory of each part in mebibytes, as proportional set size (PSS).
 *
 * @typedef {{
 * total: number, youngHeap: number, oldHeap: number, external: number, native: number, program: number,
 * shared: number, backends: number, server: number, connections: number,
 * }} Memory
 */

/**
 * @param {number} pid
 * @returns {{ anonymous: number, file: number, shared: number }} bytes; zeros if the process has ended
 */
function shareOf(pid) {
  const shares = { anonymous: 0, file: 0, shared: 0 };
  let text = '';
  try {
    text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  } catch {
    return shares;
  }
  const of = (/** @type {string} */ name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { anonymous: of('Pss_Anon'), file: of('Pss_File'), shared: of('Pss_Shmem') };
}

/** Returns the process ids of a PostgreSQL server: the postmaster and its children. @param {number} postmaster */
function serverPids(postmaster) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid === postmaster || parentOf(pid) === postmaster);
}

/** @param {number} pid */
function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

/** @param {number} pid */
function titleOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Returns V8's own memory figures from the metrics of the service. @param {number} port */
async function heapOf(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const of = (/** @type {string} */ name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const total = of('nodejs_heap_size_total_bytes');
  const young = of('nodejs_heap_space_size_total_bytes\\{space="new"\\}');
  return { young, old: total - young, external: of('nodejs_external_memory_bytes') };
}

/**
 * `own`: process id of the PostgreSQL backend that the bench uses. It is not counted.
 *
 * @param {{ pid: number, port: number, postmaster: number, own: number }} of
 * @returns {Promise<Memory>}
 */
async function memoryOf({ pid, port, postmaster, own }) {
  const heap = await heapOf(port);
  const service = shareOf(pid);
  const parts = { shared: 0, backends: 0, server: 0, program: service.file, connections: 0 };
  for (const each of serverPids(postmaster)) {
    const { anonymous, file, shared } = shareOf(each);
    const isBackend = OF_A_CLIENT.test(titleOf(each));
    parts.shared += shared;
    parts.program += file;
    if (each === own) continue;
    parts[isBackend ? 'backends' : 'server'] += anonymous;
    if (isBackend) parts.connections += MIB;
  }
  // `heap.young` includes the semi-spaces that V8 has only reserved. They use memory only after V8 writes to them.
  const native = service.anonymous + service.shared - heap.young - heap.old - heap.external;
  const { connections, ...bytes } = {
    youngHeap: heap.young,
    oldHeap: heap.old,
    external: heap.external,
    native,
    ...parts,
  };
  const total = Object.values(bytes).reduce((sum, part) => sum + part, 0);
  const inMib = Object.fromEntries(
    Object.entries({ total, ...bytes, connections }).map(([name, part]) => [name, part / MIB]),
  );
  return /** @type {Memory} */ (inMib);
}

/**
 * Calls `look` every two seconds. Returns a function that stops the calls and returns the sample with the largest
 * total.
 *
 * @param {() => Promise<Memory>} look
 */
function watch(look) {
  let [isStopped, most] = [false, /** @type {Memory | null} */ (null)];
  const watching = (async () => {
    while (!isStopped) {
      const seen = await look();
      if (most === null || seen.total > most.total) most = seen;
      await sleep(LOOK_EVERY_MS);
    }
  })();
  return async () => {
    isStopped = true;
    await watching;
    return /** @type {Memory} */ (/** @type {unknown} */ (most));
  };
}

/** Measures one process that has all roles, at a fixed rate. @type {import('./rows.mjs').Block} */
export const memory = {
  rows: ['memory'],
  async run(bench, _wanted, report) {
    const { subject, server } = await startSide(bench, (options) => startPosthorn({ ...options, roles: ['all'] }));
    const own = { ...bench, database: server };
    const look = () =>
      memoryOf({
        pid: subject.processes[0]?.pid ?? 0,
        port: subject.ports[0] ?? 0,
        postmaster: server.postmasterPid,
        own: server.client.processID,
      });
    await sleep(REST_MS);
    const idle = await look();
    const stop = watch(look);
    await breakIn(own, subject);
    const figures = await measure(own, subject, { perSecond: PER_SECOND });
    const atWork = await stop();
    bench.nextNumber = own.nextNumber;
    report({ name: 'memory', figures: { ...figures, memory: { idle, atWork } } });
    await stopSide({ subject, server });
  },
};

const PARTS = /** @type {const} */ ([
  ['youngHeap', 'service: JS heap, young'],
  ['oldHeap', 'service: JS heap, old'],
  ['external', 'service: buffers beside the heap'],
  ['native', 'service: other native'],
  ['shared', 'PostgreSQL: shared memory'],
  ['backends', 'PostgreSQL: backends'],
  ['server', 'PostgreSQL: other processes'],
  ['program', 'both: programs and libraries'],
  ['total', 'together'],
]);

/** @param {{ idle: Memory, atWork: Memory }} measured */
export function memoryTable({ idle, atWork }) {
  const width = Math.max(...PARTS.map(([, what]) => what.length));
  const line = (/** @type {string} */ what, /** @type {string[]} */ cells) =>
    [what.padEnd(width), ...cells.map((cell) => cell.padStart(8))].join('  ');
  const rows = PARTS.map(([part, what]) =>
    line(
      what,
      [idle, atWork].map((memory) => memory[part].toFixed(0)),
    ),
  );
  const connections = line(
    'connections',
    [idle, atWork].map((memory) => memory.connections.toFixed(0)),
  );
  return [line('MiB (PSS)', ['idle', 'at work']), ...rows, connections].join('\n');
}

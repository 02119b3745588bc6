import { availableParallelism, totalmem } from 'node:os';

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/** Memory that one process may use, in bytes, with the Node.js options of `npm start`. */
const MEMORY_BYTES = 1024 ** 3;

/**
 * Connections that a process opens besides its pool: for the ledger, reads, heartbeats, LISTEN, the queues and the
 * connection watch.
 */
const CONNECTIONS_BESIDE_POOL = 24;
/** Connections reserved for `posthorn backup`, psql and similar clients. */
const CONNECTIONS_SPARE = 20;

export function thisMachine(): Machine {
  return { cores: availableParallelism(), memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Infinity) };
}

/**
 * Returns the number of processes to run: the value of PROCESSES or, for `auto`, one process per core, but at most one
 * per gigabyte of memory.
 */
export function processCount(asked: number | 'auto', { cores, memoryBytes }: Machine): number {
  if (asked !== 'auto') return asked;
  return Math.max(1, Math.min(cores, Math.floor(memoryBytes / MEMORY_BYTES)));
}

/** Returns the maximum number of database connections of all processes, each with an ordinary pool of `poolSize`. */
export function connectionsOf(processes: number, poolSize: number): number {
  return processes * (poolSize + CONNECTIONS_BESIDE_POOL);
}

export function connectionsFor(processes: number, poolSize: number): number {
  return connectionsOf(processes, poolSize) + CONNECTIONS_SPARE;
}

/** Returns a warning if all processes together may open more connections than PostgreSQL allows. Otherwise null. */
export function crampedBy(room: number, processes: number, poolSize: number): string | null {
  const wanted = connectionsOf(processes, poolSize);
  if (wanted <= room) return null;
  return `PostgreSQL allows ${room} connections, and ${processes} processes open up to ${wanted}: raise its max_connections, or lower PROCESSES or DATABASE_POOL_SIZE.`;
}

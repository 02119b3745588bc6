import { availableParallelism, totalmem } from 'node:os';

/** What a machine, or a container, has for us. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/** What a process may grow to with the options of `npm start`. */
const MEMORY_BYTES = 1024 ** 3;

/** Beside the ordinary pool: the ledger, reads, presence, one that listens, the queues, one that asks about the others. */
const CONNECTIONS_BESIDE_POOL = 24;
/** For `posthorn backup`, a psql and the like. */
const CONNECTIONS_SPARE = 20;

/** This machine, within the limits of its container. */
export function thisMachine(): Machine {
  return { cores: availableParallelism(), memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Infinity) };
}

/** How many processes to run: as many as PROCESSES says, or one for each core that has a gigabyte of memory. */
export function processCount(asked: number | 'auto', { cores, memoryBytes }: Machine): number {
  if (asked !== 'auto') return asked;
  return Math.max(1, Math.min(cores, Math.floor(memoryBytes / MEMORY_BYTES)));
}

/** Connections to PostgreSQL that so many processes open at most, each with an ordinary pool of this size. */
export function connectionsOf(processes: number, poolSize: number): number {
  return processes * (poolSize + CONNECTIONS_BESIDE_POOL);
}

/** `max_connections` of a server of our own. */
export function connectionsFor(processes: number, poolSize: number): number {
  return connectionsOf(processes, poolSize) + CONNECTIONS_SPARE;
}

/** What to say where a server lets in fewer than all of them may want; null where it has room. */
export function crampedBy(room: number, processes: number, poolSize: number): string | null {
  const wanted = connectionsOf(processes, poolSize);
  if (wanted <= room) return null;
  return `PostgreSQL lets in ${room} connections, and ${processes} processes open up to ${wanted}: raise its max_connections, or lower PROCESSES or DATABASE_POOL_SIZE.`;
}

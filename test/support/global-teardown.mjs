import { once } from 'node:events';

/** Stops PostgreSQL, then lets the reaper remove the rest, and waits until nothing is left. */
export default async function globalTeardown() {
  await globalThis.posthornPostgres?.stop();
  const reaper = globalThis.posthornReaper;
  if (!reaper) return;
  reaper.ref();
  const gone = once(reaper, 'exit');
  reaper.stdin.end();
  await gone;
}

import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const STOP_MS_MAX = 20_000;

/** Stops the shared services, then PostgreSQL. Then lets the reaper remove the rest and waits for it. */
export default async function globalTeardown() {
  await stopShared(path.join(process.env.POSTHORN_TEST_DIR ?? '', 'shared'));
  await globalThis.posthornPostgres?.stop();
  const reaper = globalThis.posthornReaper;
  if (!reaper) return;
  reaper.ref();
  const gone = once(reaper, 'exit');
  reaper.stdin.end();
  await gone;
}

/** Stops the services of `shared-server.ts`. */
async function stopShared(folder) {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  await Promise.all(
    files.map(async (name) => {
      const { pid, log } = JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
      const before = performance.now();
      for (let signal = 'SIGTERM'; send(pid, signal); signal = 0) {
        if (performance.now() - before > STOP_MS_MAX) {
          send(pid, 'SIGKILL');
          throw new Error(
            `A shared service did not stop within ${STOP_MS_MAX} ms of SIGTERM. It wrote:\n${readFileSync(log, 'utf8')}`,
          );
        }
        await pause(50);
      }
    }),
  );
}

function send(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

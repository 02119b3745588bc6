import { readdirSync, readFileSync } from 'node:fs';
import { freePort } from '../durability/processes.js';
import { type PosthornServer, startServer } from '../support/server.js';

const ANSWER_MS_MAX = 5_000;

/** Returns the child processes of a process. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => {
      try {
        return Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${each}/stat`, 'latin1'))?.[1]) === pid;
      } catch {
        return false;
      }
    });
}

/** Returns the number of the child that answers. Null if no child answers in time, because it was killed meanwhile. */
const numberAt = async (url: string): Promise<number | null> => {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const answer = await fetch(`${url}/health/ready`, { headers: { connection: 'close' }, signal }).catch(() => null);
  return (
    ((await answer?.json().catch(() => null)) as { parts?: { process: { number: number } } } | null)?.parts?.process
      .number ?? null
  );
};

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe('PROCESSES=3', () => {
  let server: PosthornServer;

  afterAll(() => server?.stop());

  it('children that are killed during their first start, while the service answers, are restarted, and the service continues', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const starting = startServer({ PORT: String(port), PROCESSES: '3', LOG_LEVEL: 'info' });
    while ((await numberAt(url)) === null) await pause();
    const parents = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => childrenOf(pid).length > 1 && portOf(pid) === port);
    const [parent = 0] = parents;
    const first = Math.min(...childrenOf(parent));

    const killed = childrenOf(parent).filter((pid) => pid !== first);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    server = await starting;
    const numbers = new Set<number | null>();
    while (numbers.size < 3) {
      numbers.add(await numberAt(url));
      numbers.delete(null);
      await pause();
    }

    expect(killed).toHaveLength(2);
    expect(server.pid).toBe(parent);
    expect([...numbers].sort()).toEqual([1, 2, 3]);
    expect(server.logs()).toMatch(/Process 2 ended with SIGKILL; it is started again/);
    expect(server.logs()).toMatch(/Process 3 ended with SIGKILL; it is started again/);
  }, 180_000);
});

/** Returns the port that a test's process listens on. */
function portOf(pid: number): number | null {
  try {
    return Number(/(?:^|\0)PORT=(\d+)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1]);
  } catch {
    return null;
  }
}

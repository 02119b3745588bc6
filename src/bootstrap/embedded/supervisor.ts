import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { failuresAfter, restartDelayMs } from '#kernel/concurrency/restart-delay.js';
import { readPidFile } from './cluster.js';
import { EmbeddedPostgresError, errorCode } from './failure.js';
import type { LaunchPlan } from './launch.js';
import { launch, LaunchFailure } from './launch.js';
import { anyPort, portOfLastStart } from './ports.js';
import { isRunning, isServerOf } from './processes.js';

export type Log = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

const ADOPTED_POLL_MS = 250;
const GONE_POLL_MS = 20;
const PASSING_DELAY_MS = 200;
const FIRST_START_TRIES = 40;
const FIRST_START_DELAY_MS_FIRST = 50;
const FIRST_START_DELAY_MS_MAX = 1000;
const ADOPTION_MS_MAX = 120_000;
const FAST_STOP_MS_MAX = 30_000;
const IMMEDIATE_STOP_MS_MAX = 5000;

/**
 * Keeps a server running until `stop`. Adopts a server that an earlier process left running. Restarts a crashed server
 * on the same port.
 */
export class Supervisor {
  private serverPid = 0;
  private serverPort = 0;
  private startedAtMs = 0;
  private quickDeaths = 0;
  private restarting: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(
    private readonly plan: LaunchPlan,
    private readonly log: Log,
  ) {}

  get pid(): number {
    return this.serverPid;
  }

  get port(): number {
    return this.serverPort;
  }

  /**
   * Adopts a running server, or starts one.
   *
   * @throws EmbeddedPostgresError if no server could be adopted or started.
   */
  async start(): Promise<void> {
    if (!(await this.adopt())) await this.startFirst();
  }

  /** Shuts the server down (fast shutdown, which writes a checkpoint) and disables restarts. */
  async stop(): Promise<void> {
    this.stopping.abort();
    // SIGINT requests a fast shutdown. SIGQUIT requests an immediate shutdown, after which the next start replays the
    // WAL.
    const gone =
      (await this.end('SIGINT', FAST_STOP_MS_MAX)) ||
      (await this.end('SIGQUIT', IMMEDIATE_STOP_MS_MAX)) ||
      (await this.end('SIGKILL', IMMEDIATE_STOP_MS_MAX));
    await this.restarting;
    this.log(gone ? 'PostgreSQL stopped.' : 'PostgreSQL does not stop.', { pid: this.serverPid });
  }

  private async adopt(): Promise<boolean> {
    const { dir } = this.plan.cluster;
    const deadlineMs = performance.now() + ADOPTION_MS_MAX;
    for (;;) {
      const file = readPidFile(dir);
      if (file === null || !isServerOf(file.pid, dir)) return false;
      if (file.isReady) {
        this.nowRuns(file.pid, file.port);
        this.watchAdopted(file.pid);
        this.log('Adopted the PostgreSQL that an earlier process left running.', { pid: file.pid, port: file.port });
        return true;
      }
      if (performance.now() > deadlineMs) {
        throw new EmbeddedPostgresError(
          `PostgreSQL (process ${file.pid}) holds ${dir}, but accepts no connections and does not stop: end that process.`,
        );
      }
      await sleep(GONE_POLL_MS);
    }
  }

  private async startFirst(): Promise<void> {
    let port = portOfLastStart(this.plan.cluster.dir) ?? anyPort();
    for (let tries = 1; ; tries += 1) {
      try {
        await this.launchOn(port);
        this.log('PostgreSQL started.', { pid: this.serverPid, port });
        return;
      } catch (error) {
        if (!(error instanceof LaunchFailure)) throw error;
        if (tries === FIRST_START_TRIES || !(error.isPortTaken || error.isPassing))
          throw new EmbeddedPostgresError(`${error.message}.`);
        if (error.isPortTaken) port = anyPort();
        await sleep(Math.min(FIRST_START_DELAY_MS_FIRST * tries, FIRST_START_DELAY_MS_MAX));
      }
    }
  }

  private async launchOn(port: number): Promise<void> {
    const server = await launch(this.plan, port, (pid) => this.nowRuns(pid, port));
    this.startedAtMs = performance.now();
    this.watchSpawned(server);
  }

  private nowRuns(pid: number, port: number): void {
    this.serverPid = pid;
    this.serverPort = port;
    this.startedAtMs = performance.now();
  }

  private watchSpawned(child: ChildProcess): void {
    if (child.exitCode !== null || child.signalCode !== null) this.died();
    else child.once('exit', () => this.died());
  }

  private watchAdopted(pid: number): void {
    const timer = setInterval(() => {
      if (isRunning(pid)) return;
      clearInterval(timer);
      this.died();
    }, ADOPTED_POLL_MS);
    timer.unref();
  }

  private died(): void {
    if (this.stopping.signal.aborted) return;
    this.quickDeaths = failuresAfter(this.quickDeaths, performance.now() - this.startedAtMs);
    this.log('PostgreSQL died; it is started again.', { pid: this.serverPid, port: this.serverPort });
    this.restarting = this.restart();
  }

  /** Restarts the server, and retries forever: an operator can fix the cause, such as a full disk, at any time. */
  private async restart(): Promise<void> {
    let delayMs = restartDelayMs(this.quickDeaths);
    for (let failures = this.quickDeaths; !this.stopping.signal.aborted; failures += 1) {
      try {
        await sleep(delayMs, undefined, { signal: this.stopping.signal });
        await this.launchOn(this.serverPort);
        this.log('PostgreSQL runs again.', { pid: this.serverPid, port: this.serverPort });
        return;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        this.log('PostgreSQL could not be restarted.', { error: String(error) });
        delayMs = error instanceof LaunchFailure && error.isPassing ? PASSING_DELAY_MS : restartDelayMs(failures + 1);
      }
    }
  }

  private async end(signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + withinMs;
    if (!send(this.serverPid, signal)) return true;
    while (isRunning(this.serverPid)) {
      if (performance.now() > deadlineMs) return false;
      await sleep(GONE_POLL_MS);
    }
    return true;
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return pid > 0 && isRunning(pid) && process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { failuresAfter, restartDelayMs } from '#kernel/concurrency/restart-delay.js';
import type { ListeningAddress } from './listening.js';
import { mergedFigures } from './merged-figures.js';
import type { Beginning, MemberMessage, ParentMessage } from './messages.js';

type Log = (level: 'info' | 'error', message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Time limit for each process to report its metrics. The scrape omits slower processes. */
const COLLECT_MS_MAX = 5_000;

/**
 * Runs the service's processes behind shared ports. The parent listens on the ports and distributes connections
 * round-robin (docs/adr/0026). The parent restarts each process that exits, until `retire` is called.
 */
export class Fleet {
  private readonly running = new Map<number, Worker>();
  /** Number of consecutive exits soon after a start, by process number. */
  private readonly failures = new Map<number, number>();
  private readonly up = new Set<number>();
  private readonly asked = new Map<string, (text: string) => void>();
  private readonly badEnds: string[] = [];
  private readonly stopping = new AbortController();
  private scrapes = 0;
  private resolveGone: () => void = () => undefined;
  private readonly gone = new Promise<void>((resolve) => (this.resolveGone = resolve));

  constructor(
    private readonly beginning: Beginning,
    private readonly log: Log,
  ) {}

  /**
   * Starts all processes, and resolves to the shared addresses once all of them serve. The first process starts alone,
   * because it migrates the database and creates the keys. Any other process that is killed during its start is
   * restarted.
   *
   * @throws Error with the message of a process that does not start. The other processes run until `drain` is called.
   */
  async start(): Promise<readonly ListeningAddress[]> {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    const addresses = await this.launch(1);
    await Promise.all(Array.from({ length: this.beginning.count - 1 }, (_, i) => this.launchBeside(i + 2)));
    return addresses;
  }

  /**
   * Starts a graceful stop of all processes. Resolves after the grace period, or earlier if all processes have exited.
   */
  async retire(graceMs: number): Promise<void> {
    this.stopping.abort();
    for (const worker of this.running.values()) worker.process.kill('SIGTERM');
    if (this.running.size === 0) this.resolveGone();
    await Promise.race([this.gone, sleep(graceMs, undefined, { ref: false })]);
  }

  /**
   * Resolves once all processes have exited. Throws if one of them failed. Call `retire` first, because this method
   * does not stop the processes.
   */
  async drain(): Promise<void> {
    await this.gone;
    if (this.badEnds.length > 0) throw new Error(this.badEnds.join(' '));
  }

  /** Kills all processes immediately. */
  abandon(): void {
    this.stopping.abort();
    for (const worker of this.running.values()) worker.process.kill('SIGKILL');
  }

  /** Starts a process while other processes serve. Throws if the process reports why it cannot start. */
  private async launchBeside(number: number): Promise<void> {
    try {
      await this.launch(number);
    } catch (error) {
      if (!(error instanceof EndedWithoutReason)) throw error;
      this.died(number, error.how, error.livedMs);
    }
  }

  /** Resolves with the addresses once the process serves. Rejects if the process ends first. */
  private async launch(number: number): Promise<readonly ListeningAddress[]> {
    this.stopping.signal.throwIfAborted();
    const worker = cluster.fork();
    const startedAtMs = performance.now();
    let failure: string | null = null;
    this.running.set(number, worker);
    return new Promise((resolve, reject) => {
      worker.on('message', (word: MemberMessage) => {
        if (word.kind === 'joined') send(worker, { kind: 'begin', number, ...this.beginning });
        else if (word.kind === 'failed') failure = word.line;
        else if (word.kind === 'scrape') void this.answer(worker, word.scrape);
        else if (word.kind === 'collected') this.asked.get(`${word.scrape} ${number}`)?.(word.text);
        else {
          this.up.add(number);
          resolve(word.addresses);
        }
      });
      const ended = (how: string): void => {
        if (!this.running.delete(number)) return;
        const livedMs = performance.now() - startedAtMs;
        if (this.up.delete(number)) this.died(number, how, livedMs);
        reject(failure === null ? new EndedWithoutReason(number, how, livedMs) : new Error(failure));
        if (this.stopping.signal.aborted && this.running.size === 0) this.resolveGone();
      };
      // Handles only the error of a failed start. An error of a running process means that a message was not sent.
      // `close` reports the end of a process.
      worker.on(
        'error',
        (error) => worker.process.pid === undefined && ended(`could not be started: ${error.message}`),
      );
      // Uses `close`, because `exit` may arrive before the last message.
      worker.process.once('close', (code, signal) => ended(`ended with ${signal ?? `code ${code}`}`));
    });
  }

  private died(number: number, how: string, livedMs: number): void {
    if (this.stopping.signal.aborted) {
      if (how !== 'ended with code 0') this.badEnds.push(`Process ${number} ${how}.`);
      return;
    }
    this.failures.set(number, failuresAfter(this.failures.get(number) ?? 0, livedMs));
    this.log('error', `Process ${number} ${how}; it is started again.`, { number });
    void this.restart(number);
  }

  /** Restarts a process, and retries until the service stops, because an operator can fix the cause at any time. */
  private async restart(number: number): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const failures = this.failures.get(number) ?? 0;
      try {
        await sleep(restartDelayMs(failures), undefined, { signal });
        await this.launch(number);
        this.log('info', `Process ${number} was restarted.`, { number });
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.failures.set(number, failures + 1);
        this.log('error', `Process ${number} could not be restarted: ${(error as Error).message}`, { number });
      }
    }
  }

  private async answer(asking: Worker, scrape: number): Promise<void> {
    const round = ++this.scrapes;
    const pages = await Promise.all([...this.up].sort((a, b) => a - b).map((number) => this.pageOf(number, round)));
    send(asking, { kind: 'scraped', scrape, text: mergedFigures(new Map(pages)) });
  }

  private async pageOf(number: number, round: number): Promise<[number, string]> {
    const key = `${round} ${number}`;
    const worker = this.running.get(number);
    let timer: NodeJS.Timeout | undefined;
    const page = await new Promise<string>((resolve) => {
      this.asked.set(key, resolve);
      timer = setTimeout(() => resolve(''), COLLECT_MS_MAX);
      if (worker) send(worker, { kind: 'collect', scrape: round });
    });
    clearTimeout(timer);
    this.asked.delete(key);
    return [number, page];
  }
}

/**
 * Error of a process that exited before it served and reported no reason, for example because of the out-of-memory
 * killer.
 */
class EndedWithoutReason extends Error {
  constructor(
    number: number,
    readonly how: string,
    readonly livedMs: number,
  ) {
    super(`process ${number} ${how}`);
  }
}

/** Sends a message to a process. Ignores errors, because the process may have exited. */
function send(worker: Worker, message: ParentMessage): void {
  worker.send(message, () => undefined);
}

import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { jobsOf } from '../../../test/support/jobs-of.js';
import type { DueWork } from './due-work-poller.js';
import { Every } from './every.js';
import { Loop, type LoopDelay } from './loop.js';

const SECOND_MS = 1_000;

/** A provider with a job of every kind. Counts the runs of each job. */
class Housekeeping {
  readonly turns: Record<string, number> = {};

  @Every(SECOND_MS, { name: 'everywhere' })
  async everywhere(): Promise<void> {
    this.count('everywhere');
  }

  @Every(SECOND_MS, { name: 'worker', runsOn: 'worker' })
  async worker(): Promise<void> {
    this.count('worker');
  }

  @Every(SECOND_MS, { name: 'sweep', removesByAge: true })
  async sweep(): Promise<void> {
    this.count('sweep');
  }

  @Every(SECOND_MS, { name: 'attended', dueWork: { name: 'work', inMs: 'select 0' } })
  async attended(): Promise<void> {
    this.count('attended');
  }

  @Every(SECOND_MS, { name: 'busy' })
  async busy(): Promise<LoopDelay> {
    this.count('busy');
    return { restMs: 100 };
  }

  async noJob(): Promise<void> {
    this.count('noJob');
  }

  private count(job: string): void {
    this.turns[job] = (this.turns[job] ?? 0) + 1;
  }
}

const names = (): string[] => [...Loop.running()].map(({ name }) => name);
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('BackgroundJobs', () => {
  let provider: Housekeeping;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    Logger.overrideLogger(false);
    provider = new Housekeeping();
  });

  afterEach(() => {
    Logger.overrideLogger(true);
    jest.useRealTimers();
  });

  it('runs each job once after the start and then at its interval, unless a turn returns another rest', async () => {
    const jobs = jobsOf(() => [provider]);

    await pass(SECOND_MS);
    expect(provider.turns).toEqual({});
    jobs.start();
    await pass(2_050);
    await jobs.stop();

    expect(provider.turns).toEqual({ everywhere: 3, worker: 3, sweep: 3, attended: 3, busy: 21 });
  });

  it('starts the jobs of workers only in a process that delivers', async () => {
    const jobs = jobsOf(() => [provider], { isWorker: false });

    jobs.start();
    expect(names()).toEqual(['everywhere', 'sweep', 'attended', 'busy']);
    await jobs.stop();
  });

  it('checks the gate before each turn that removes data by age, and asks a closed gate again after a minute', async () => {
    const gate = { isOpen: jest.fn(async () => false) };
    const jobs = jobsOf(() => [provider], { gate });

    jobs.start();
    await pass(59_000);
    expect(provider.turns).toMatchObject({ everywhere: 60 });
    expect(provider.turns).not.toHaveProperty('sweep');
    expect(gate.isOpen).toHaveBeenCalledTimes(1);
    gate.isOpen.mockResolvedValue(true);
    await pass(1_000);
    await jobs.stop();

    expect(provider.turns).toMatchObject({ sweep: 1 });
  });

  it('rests as long as the poller allows, and takes the next turn when work is due', async () => {
    const watched: DueWork[] = [];
    const dueWork = { register: (work: DueWork) => void watched.push(work), restMs: () => 30_000 };
    const jobs = jobsOf(() => [provider], { dueWork });

    jobs.start();
    await pass(10_000);
    expect(provider.turns).toMatchObject({ attended: 1, everywhere: 11 });
    expect(watched).toMatchObject([{ name: 'work', inMs: 'select 0' }]);
    watched[0]?.wake();
    await pass(0);
    await jobs.stop();

    expect(provider.turns).toMatchObject({ attended: 2, everywhere: 11 });
  });

  it('wakes the jobs of one provider, and none before the start', async () => {
    const other = new Housekeeping();
    const jobs = jobsOf(() => [provider, other]);

    jobs.wake(provider);
    jobs.start();
    await pass(0);
    jobs.wake(provider);
    await pass(0);
    await jobs.stop();

    expect([provider.turns, other.turns]).toMatchObject([{ everywhere: 2 }, { everywhere: 1 }]);
  });

  it('starts a job once if an alias provides the same instance, and skips providers that are not objects', async () => {
    const jobs = jobsOf(() => [provider, provider, null, undefined, 'a value', Object.create(null), {}]);

    jobs.start();
    expect(names()).toEqual(['everywhere', 'worker', 'sweep', 'attended', 'busy']);
    await jobs.stop();
  });

  it('stops the start for a job of a controller, which would never run', async () => {
    const jobs = jobsOf(() => [provider], { controllers: [Housekeeping] });

    expect(() => jobs.start()).toThrow('Housekeeping has the job "everywhere", so it must be a provider of a module.');
    expect(names()).toEqual([]);
  });

  it('waits for the running turns when it stops, and never makes a process unready', async () => {
    let end = (): void => undefined;
    class Slow {
      @Every(SECOND_MS, { name: 'slow' })
      run(): Promise<void> {
        return new Promise((resolve) => (end = resolve));
      }
    }
    const jobs = jobsOf(() => [new Slow()]);
    let isStopped = false;

    jobs.start();
    await pass(60_000);
    expect([...Loop.running()].map((loop) => loop.isLate())).toEqual([false]);
    const stopped = jobs.stop().then(() => (isStopped = true));
    await pass(SECOND_MS);
    expect(isStopped).toBe(false);
    end();
    await stopped;

    expect(names()).toEqual([]);
  });
});

import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { Clock } from '../clock.js';
import { Config } from '../config/config.js';
import { CLOSED_REST_MS, RetentionGate } from '../database/retention-gate.js';
import { DueWorkPoller } from './due-work-poller.js';
import { JOB, type Job, type JobTurn } from './every.js';
import { HOUSEKEEPING, Loop, type LoopDelay } from './loop.js';

/**
 * Runs the `@Every` methods of all providers. The root module starts and stops them, because it bootstraps last and
 * shuts down first. Jobs therefore run only while every provider that they use is up.
 */
@Injectable()
export class BackgroundJobs {
  private readonly loops = new Map<object, Loop[]>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly modules: ModulesContainer,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    private readonly config: Config,
    private readonly gate: RetentionGate,
    private readonly dueWork: DueWorkPoller,
    private readonly clock: Clock,
  ) {}

  /** Starts all jobs. Throws for an `@Every` method of a controller, guard, interceptor, pipe or filter. */
  start(): void {
    this.rejectIgnoredJobs();
    const instances = this.discovery.getProviders().map(({ instance }) => instance as unknown);
    // The set removes duplicates: a provider with `useExisting` has the same instance as the provider that it refers
    // to.
    for (const instance of new Set(instances))
      if (typeof instance === 'object' && instance !== null) this.startJobsOf(instance);
  }

  /** Starts the next turn of each job of this provider now. Does nothing before `start` and after `stop`. */
  wake(provider: object): void {
    for (const loop of this.loops.get(provider) ?? []) loop.wake();
  }

  /** Stops all jobs. Resolves when their current turns have ended. */
  async stop(): Promise<void> {
    await Promise.all([...this.loops.values()].flat().map((loop) => loop.stop()));
  }

  private rejectIgnoredJobs(): void {
    const providers = new Set(this.discovery.getProviders().map(({ metatype }) => metatype));
    for (const { controllers, injectables } of this.modules.values()) {
      for (const { metatype } of [...controllers.values(), ...injectables.values()]) {
        if (typeof metatype !== 'function' || providers.has(metatype)) continue;
        const [ignored] = this.jobsIn(metatype.prototype as object);
        if (ignored !== undefined)
          throw new Error(`${metatype.name} has the job "${ignored.job.name}", so it must be a provider of a module.`);
      }
    }
  }

  private startJobsOf(provider: object): void {
    const jobs = this.jobsIn(Object.getPrototypeOf(provider) as object | null);
    const own = jobs.filter(({ job }) => job.runsOn !== 'worker' || this.config.isWorker);
    this.loops.set(
      provider,
      own.map(({ job, turn }) => this.startJob(job, turn.bind(provider))),
    );
  }

  private jobsIn(prototype: object | null): { job: Job; turn: JobTurn }[] {
    const methods = (prototype ?? {}) as Record<string, JobTurn>;
    return this.scanner.getAllMethodNames(methods).flatMap((name) => {
      const turn = methods[name] as JobTurn;
      const job = this.reflector.get<Job | undefined>(JOB, turn);
      return job === undefined ? [] : [{ job, turn }];
    });
  }

  private startJob(job: Job, turn: JobTurn): Loop {
    const loop = new Loop(
      job.name,
      () => this.run(job, turn),
      () => this.clock.nowMs(),
      HOUSEKEEPING,
    );
    loop.start();
    if (job.dueWork) this.dueWork.register({ ...job.dueWork, wake: () => loop.wake() });
    return loop;
  }

  private async run({ everyMs, removesByAge, dueWork }: Job, turn: JobTurn): Promise<LoopDelay> {
    if (removesByAge && !(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    return (await turn()) ?? { restMs: dueWork ? this.dueWork.restMs(everyMs) : everyMs };
  }
}

import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import { ApplicationRemoval } from '#modules/applications/application-removal.js';
import { Applications } from '#modules/applications/applications.js';
import { ApplicationErasures } from '#modules/events/erasure/application-erasures.js';
import type { Erased, ReplayJob } from './replay-job.js';
import type { WorkDone, WorkSource } from './replay-pages.js';

/**
 * Time after which no process accepts events for a deleted application. Exceeds the maximum age of cached applications,
 * 5 s.
 */
const ALL_KNOW_MS = 6_000;
/**
 * Maximum difference between the clocks of two processes. An event's id contains the time of the process that accepted
 * it. An event that is accepted after the deletion may therefore have an id that is earlier by up to this difference.
 */
const CLOCKS_MS = 60_000;
/** Pause before the next check for attempts in flight. Such attempts end within their timeout. */
const PENDING_REST_MS = 250;

/**
 * Erases an application. First counts and records its endpoints. Then deletes the application with its endpoints, so
 * that no new events are accepted, and erases the events, newest first. Finally erases events that processes with
 * outdated caches still accepted.
 */
@Injectable()
export class EraseWork implements WorkSource {
  constructor(
    private readonly applications: Applications,
    private readonly removals: ApplicationRemoval,
    private readonly erasures: ApplicationErasures,
    private readonly clock: Clock,
  ) {}

  async work({
    environmentId,
    endpointId: applicationId,
    fromId,
    beforeId,
    erased: before,
    createdAt,
  }: ReplayJob): Promise<WorkDone> {
    const none = { scanned: 0, replayed: 0, skipped: 0, excluded: 0, enqueued: 0 };
    if (before === null) return { ...none, erased: await this.counted(environmentId, applicationId), isOver: false };
    await this.removals.removeWhole(environmentId, applicationId);
    const late = lowestIdAt(createdAt.getTime() - CLOCKS_MS);
    const { messages, attempts, lastId, isPending, ...stretch } = await this.erasures.eraseNewest({
      environmentId,
      applicationId,
      fromId,
      beforeId,
    });
    const scanned = fromId === late ? messages : stretch.scanned;
    const erased = { ...before, messages: before.messages + messages, attempts: before.attempts + attempts };
    if (isPending) return { ...none, erased, isOver: false, restMs: PENDING_REST_MS };
    if (lastId !== null) return { ...none, scanned, erased, beforeId: lastId, isOver: false };
    if (fromId === late) return { ...none, erased, isOver: true };
    const waitMs = createdAt.getTime() + ALL_KNOW_MS - this.clock.nowMs();
    if (waitMs > 0) return { ...none, erased, isOver: false, restMs: waitMs };
    return { ...none, erased, fromId: late, beforeId: lowestIdAt(Infinity), isOver: false };
  }

  private async counted(environmentId: number, applicationId: Id): Promise<Erased> {
    const endpoints = (await this.applications.endpointsOf(environmentId, applicationId)).map(({ id }) => id);
    const deliveries = endpoints.length === 0 ? 0 : await this.erasures.waiting(environmentId, endpoints);
    return { endpoints: endpoints.length, messages: 0, deliveries, attempts: 0 };
  }
}

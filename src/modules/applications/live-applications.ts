import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { compileFilter, type Condition } from '#engine/conditions/condition.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import { type Subscription, subscription } from '#engine/subscription.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import { noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { MessageTraits } from './contract.js';
import { LiveApplicationsStore, type SubscribedRow } from './live-applications.store.js';

const APPLICATIONS_MAX = 20_000;
const UIDS_MAX = 50_000;
/** Maximum number of event types per application whose matching endpoints are cached. */
const TYPES_MAX = 256;
/** Number of filter steps (about four milliseconds) after which the fan-out yields to the event loop. */
const STEPS_AT_ONCE = 500_000;
/**
 * Maximum number of compiled filters. They are cached by text, so a changed endpoint does not recompile other
 * endpoints' filters.
 */
const FILTERS_MAX = 5_000;
const COMPILED_AT_ONCE = 10;
const TRIES_MAX = 3;

export interface LiveSubscriber {
  readonly id: Id;
  readonly destinationId: Id;
  /** True if the endpoint itself is enabled. Its destination may be disabled nevertheless. */
  readonly isActive: boolean;
  readonly subscription: Subscription;
  readonly filter: Condition | null;
}

/** An endpoint that matches a message, or whose filter result is unknown. */
export interface MatchingSubscriber extends LiveSubscriber {
  isDecided: boolean;
}

/** Evaluates filters on another thread. Returns for each filter whether it matches, or null if this is unknown. */
export type JudgesFilters = (filters: readonly Condition[], view: RequestView) => Promise<(boolean | null)[]>;

export class LiveApplication {
  private readonly byType = new Map<string, readonly LiveSubscriber[]>();

  constructor(
    readonly id: Id,
    private readonly subscribers: readonly LiveSubscriber[],
  ) {}

  /**
   * Returns the matching subscribers. Calls `view` only if a subscriber has a filter. `judge` evaluates slow filters.
   */
  async matching({ eventType, channels, view }: MessageTraits, judge: JudgesFilters): Promise<MatchingSubscriber[]> {
    const verdicts: { subscriber: LiveSubscriber; holds: boolean | null }[] = [];
    let steps = 0;
    for (const subscriber of this.ofType(eventType)) {
      if (!subscriber.subscription.matchesChannels(channels)) continue;
      // Each filter gets the full step limit, so that an expensive filter of one customer does not affect others.
      const own = subscriber.filter && view().fresh();
      const holds = own === null || subscriber.filter?.matches(own) === true;
      verdicts.push({ subscriber, holds: own?.isExhausted === true ? null : holds });
      steps += own?.stepsSpent ?? 0;
      if (steps < STEPS_AT_ONCE) continue;
      steps = 0;
      await setImmediate();
    }
    await settle(verdicts, view, judge);
    return verdicts
      .filter(({ holds }) => holds !== false)
      .map(({ subscriber, holds }) => ({ ...subscriber, isDecided: holds === true }));
  }

  private ofType(eventType: string): readonly LiveSubscriber[] {
    let known = this.byType.get(eventType);
    if (!known) {
      known = this.subscribers.filter((subscriber) => subscriber.subscription.matchesType(eventType));
      if (this.byType.size < TYPES_MAX) this.byType.set(eventType, known);
    }
    return known;
  }
}

async function settle(
  verdicts: { subscriber: LiveSubscriber; holds: boolean | null }[],
  view: () => RequestView,
  judge: JudgesFilters,
): Promise<void> {
  const open = verdicts.filter(({ holds }) => holds === null);
  if (open.length === 0) return;
  const judged = await judge(
    open.flatMap(({ subscriber: { filter } }) => filter ?? []),
    view(),
  );
  open.forEach((verdict, i) => (verdict.holds = judged[i] ?? null));
}

/** Caches compiled applications for fan-outs. A change of an application evicts it from the cache of every node. */
@Injectable()
export class LiveApplications {
  private readonly byId: Cache<LiveApplication | null>;
  private readonly byUid: Cache<Id | null>;
  private readonly filters = new Map<string, Condition>();

  constructor(
    private readonly store: LiveApplicationsStore,
    notifications: Notifications,
    clock: Clock,
  ) {
    const options = {
      nowMs: (): number => clock.nowMs(),
      confirmedUntilMs: (): number => notifications.confirmedUntilMs(),
    };
    this.byId = new Cache((key) => this.load(key), { ...options, entriesMax: APPLICATIONS_MAX });
    this.byUid = new Cache((key) => this.store.byUid(...parted(key)), { ...options, entriesMax: UIDS_MAX });
    notifications.on('application', (key) => (key === '*' ? this.byId.clear() : this.byId.drop(key)));
    // After this notification, a uid may belong to another application.
    notifications.on('application_uid', () => this.byUid.clear());
  }

  get(environmentId: number, id: Id): Promise<LiveApplication | null> {
    return this.byId.get(`${environmentId}:${id}`);
  }

  idOf(environmentId: number, uid: string): Promise<Id | null> {
    return this.byUid.get(`${environmentId}:${uid}`);
  }

  /**
   * Returns an application's id. Creates the application for an unknown uid. Tries several times, and throws 404 if a
   * concurrent request deletes the application each time.
   */
  async idOrNew(environmentId: number, uid: string, newId: () => Id): Promise<Id> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const known = await this.idOf(environmentId, uid);
      if (known !== null) return known;
      await this.store.create(environmentId, newId(), uid);
      this.byUid.drop(`${environmentId}:${uid}`);
    }
    throw noSuch('application');
  }

  private async load(key: string): Promise<LiveApplication | null> {
    const [environmentId, id] = parted(key);
    const [exists, rows] = await Promise.all([
      this.store.exists(environmentId, id),
      this.store.endpoints(environmentId, id),
    ]);
    return exists ? new LiveApplication(id, await this.subscribers(rows)) : null;
  }

  private async subscribers(rows: readonly SubscribedRow[]): Promise<LiveSubscriber[]> {
    const subscribers: LiveSubscriber[] = [];
    let compiled = 0;
    for (const { id, destinationId, eventTypes, channels, filter, status } of rows) {
      const text = filter && JSON.stringify(filter);
      if (text !== null && !this.filters.has(text)) {
        if (this.filters.size >= FILTERS_MAX) this.filters.clear();
        this.filters.set(text, conditionOf(filter));
        compiled += 1;
        if (compiled % COMPILED_AT_ONCE === 0) await setImmediate();
      }
      const condition = text === null ? null : (this.filters.get(text) ?? conditionOf(filter));
      subscribers.push({
        id,
        destinationId,
        isActive: status === 'active',
        subscription: subscription(eventTypes, channels),
        filter: condition,
      });
    }
    return subscribers;
  }
}

/**
 * Returns a compiled filter. Throws if this version cannot compile the filter: without its filter, an endpoint would
 * get messages that it excludes.
 */
function conditionOf(filter: SubscribedRow['filter']): Condition {
  const compiled = compileFilter(filter, 'filter');
  if ('faults' in compiled)
    throw new Error(`The filter of an endpoint does not compile: ${JSON.stringify(compiled.faults)}`);
  return compiled.condition;
}

function parted(key: string): [environmentId: number, rest: string] {
  const colon = key.indexOf(':');
  return [Number(key.slice(0, colon)), key.slice(colon + 1)];
}

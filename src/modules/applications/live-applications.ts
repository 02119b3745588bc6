import { Injectable } from '@nestjs/common';
import { compileFilter, type Condition } from '#engine/conditions/condition.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import { subscription, type Subscription } from '#engine/subscription.js';
import { Cache } from '#kernel/cache.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';
import { LiveApplicationsStore, type SubscribedRow } from './live-applications.store.js';

const APPLICATIONS_MAX = 20_000;
const UIDS_MAX = 50_000;
/** Event types that one application's matches are remembered of. */
const TYPES_MAX = 256;

/** An endpoint as fan-outs see it. */
export interface LiveSubscriber {
  readonly id: Id;
  readonly destinationId: Id;
  /** Whether the endpoint itself takes deliveries; its destination may not. */
  readonly isActive: boolean;
  readonly subscription: Subscription;
  readonly filter: Condition | null;
}

/** An application with what its endpoints subscribe to, compiled. */
export class LiveApplication {
  private readonly byType = new Map<string, readonly LiveSubscriber[]>();

  constructor(
    readonly id: Id,
    private readonly subscribers: readonly LiveSubscriber[],
  ) {}

  /** The endpoints that a message goes to. `view` is asked for only where a filter wants it. */
  matching(eventType: string, channels: readonly string[], view: () => RequestView): LiveSubscriber[] {
    return this.ofType(eventType).filter(
      (subscriber) => subscriber.subscription.matchesChannels(channels) && (subscriber.filter === null || subscriber.filter.matches(view())),
    );
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

/** Applications for fan-outs, compiled and cached: a change drops them on every node. */
@Injectable()
export class LiveApplications {
  private readonly byId: Cache<LiveApplication | null>;
  private readonly byUid: Cache<Id | null>;

  constructor(
    private readonly store: LiveApplicationsStore,
    notifications: Notifications,
    clock: Clock,
  ) {
    const options = { nowMs: (): number => clock.nowMs(), heardUntilMs: (): number => notifications.heardUntilMs() };
    this.byId = new Cache((key) => this.load(key), { ...options, entriesMax: APPLICATIONS_MAX });
    this.byUid = new Cache((key) => this.store.byUid(...parted(key)), { ...options, entriesMax: UIDS_MAX });
    notifications.on('application', (key) => {
      if (key === '*') this.byId.clear();
      else this.byId.drop(key);
      // A uid may belong to another application now.
      this.byUid.clear();
    });
  }

  /** Null when there is none in this environment. */
  get(environmentId: number, id: Id): Promise<LiveApplication | null> {
    return this.byId.get(`${environmentId}:${id}`);
  }

  /** The id behind a caller's own one, or null. */
  idOf(environmentId: number, uid: string): Promise<Id | null> {
    return this.byUid.get(`${environmentId}:${uid}`);
  }

  /** The same; makes the application when there is none. */
  async idOrNew(environmentId: number, uid: string, newId: () => Id): Promise<Id> {
    const known = await this.idOf(environmentId, uid);
    if (known !== null) return known;
    await this.store.create(environmentId, newId(), uid);
    this.byUid.drop(`${environmentId}:${uid}`);
    return (await this.idOf(environmentId, uid)) as Id;
  }

  private async load(key: string): Promise<LiveApplication | null> {
    const [environmentId, id] = parted(key);
    const [exists, rows] = await Promise.all([this.store.exists(environmentId, id), this.store.endpoints(environmentId, id)]);
    return exists ? new LiveApplication(id, rows.map(liveSubscriber)) : null;
  }
}

/** Refuses what was saved by another version and does not compile any more: nothing goes out past half a filter. */
function liveSubscriber({ id, destinationId, eventTypes, channels, filter, status }: SubscribedRow): LiveSubscriber {
  const compiled = filter && compileFilter(filter, 'filter');
  if (compiled && 'faults' in compiled) throw new Error(`The filter of an endpoint does not compile: ${JSON.stringify(compiled.faults)}`);
  return { id, destinationId, isActive: status === 'active', subscription: subscription(eventTypes, channels), filter: compiled && compiled.condition };
}

function parted(key: string): [environmentId: number, rest: string] {
  const colon = key.indexOf(':');
  return [Number(key.slice(0, colon)), key.slice(colon + 1)];
}

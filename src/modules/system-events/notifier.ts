import { Injectable, Logger } from '@nestjs/common';
import { Ids, showId } from '#kernel/ids.js';
import { type Batch, BatchesStore } from './batches.store.js';
import { Composing } from './composing.js';
import type { SystemEvent, SystemEventListener } from './contract.js';
import { NotedSignals } from './noted-signals.js';
import { SystemDestination } from './system-destination.js';

const LISTENER_TIMEOUT_MS = 10_000;
const LISTENER_TRIES = 10;
const PAUSE_MS_FIRST = 1_000;
const PAUSE_MS_MAX = 60_000;

/**
 * Error of an extension's listener. It may be permanent, so the call is retried only `LISTENER_TRIES` times. Posthorn's
 * own errors are retried until they end.
 */
class ListenerFailed extends Error {}

/**
 * Sends system events. For each event, groups its signals in a batch that has the id of the event, accepts the event,
 * calls the listeners, and deletes the signals.
 *
 * A crash between these steps does not lose an event, because the remaining steps are repeated. The event is accepted
 * only once, because its id is stored. Listeners may be called twice.
 */
@Injectable()
export class Notifier {
  private readonly logger = new Logger(Notifier.name);

  constructor(
    private readonly batches: BatchesStore,
    private readonly composing: Composing,
    private readonly destination: SystemDestination,
    private readonly signals: NotedSignals,
    private readonly ids: Ids,
  ) {}

  /**
   * Sends all waiting batches, and returns those that were sent. A failed batch is retried later and does not delay
   * others.
   */
  async notifyReady(): Promise<Batch[]> {
    const notified: Batch[] = [];
    for (const { environmentId, type } of await this.batches.ready()) {
      const id = this.ids.next();
      const batch: Batch = { environmentId, type, id, ...(await this.destination.aim(environmentId, id)), failures: 0 };
      if ((await this.batches.begin(batch)) && (await this.notify(batch))) notified.push(batch);
    }
    for (const batch of await this.batches.claim()) if (await this.notify(batch)) notified.push(batch);
    return notified;
  }

  private async notify(batch: Batch): Promise<boolean> {
    try {
      await this.deliver(batch);
      await this.callListeners(batch);
    } catch (error) {
      if (!(await this.givesUp(batch, error as Error))) return false;
    }
    await this.batches.end(batch);
    return true;
  }

  private async deliver(batch: Batch): Promise<void> {
    const { environmentId, type, destinationId } = batch;
    if (destinationId === null) return;
    // Omits signals about the system destination itself, because an event about its failure would fail as well and
    // cause another event.
    const event = await this.composing.compose(batch, destinationId);
    if (event) await this.destination.accept(event, destinationId, batch.expiresOnDay);
    else
      this.logger.warn(
        `${type} of the system destination ${showId('dst', destinationId)} (environment ${environmentId}) is not sent to that destination itself.`,
      );
  }

  private async callListeners(batch: Batch): Promise<void> {
    const listeners = this.signals.listenersOf(batch.type);
    const event = listeners.length > 0 ? await this.composing.compose(batch, null) : null;
    if (event === null) return;
    const outcomes = await Promise.allSettled(listeners.map((listener) => within(listener, event)));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed)
      throw new ListenerFailed(failed.reason instanceof Error ? failed.reason.message : String(failed.reason));
  }

  /**
   * Returns true if a batch has failed too often and must be abandoned, so that a broken listener does not block later
   * events.
   */
  private async givesUp(batch: Batch, error: Error): Promise<boolean> {
    const event = `${batch.type} ${showId('evt', batch.id)}`;
    if (error instanceof ListenerFailed && batch.failures + 1 >= LISTENER_TRIES) {
      this.logger.error(
        `A listener failed ${LISTENER_TRIES} times and is not called again for ${event}: ${error.message}`,
      );
      return true;
    }
    const pauseMs = Math.min(PAUSE_MS_FIRST * 2 ** batch.failures, PAUSE_MS_MAX);
    this.logger.warn(`Notifying of ${event} failed, retry in ${pauseMs} ms: ${error.message}`);
    await this.batches.dueAgain(batch, pauseMs);
    return false;
  }
}

/** Calls a listener with a timeout. A listener that throws synchronously or never resolves counts as failed. */
async function within(listener: SystemEventListener, event: SystemEvent): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`It took over ${LISTENER_TIMEOUT_MS / 1000} seconds.`)),
      LISTENER_TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([listener(event), late]);
  } finally {
    clearTimeout(timer);
  }
}

import { Injectable, Logger } from '@nestjs/common';
import type { Outcome } from '#engine/outcome.js';
import { LoadMonitor } from '#kernel/concurrency/load-monitor.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { Postponed, Withheld } from '#modules/destinations/contract.js';
import { Targets } from '#modules/destinations/targets.js';
import { type ClaimedDelivery, type TargetKey } from '#modules/ledger/claims.contract.js';
import { Claims } from '#modules/ledger/claims.js';
import { DeliveryHandoff } from '#modules/ledger/delivery-handoff.js';
import { RecordResults } from '#modules/ledger/record.js';
import { Attempt, type Performed } from './attempt.js';
import { CircuitWatch, targetKey } from './circuit-watch.js';
import { DeliveryLog } from './delivery-log.js';
import { DeliveryListeners } from './listeners.js';
import { type DeliveryTurn, LocalScheduler } from './local-scheduler.js';

const FAILURE_THRESHOLD_DEFAULT = 10;

/**
 * Runs deliveries: makes the attempt, records the result, then updates the target's circuit breaker. No error stops the
 * worker.
 */
@Injectable()
export class DeliveryWorker {
  private readonly logger = new Logger(DeliveryWorker.name);
  private turnsRunning = 0;
  private readonly idleListeners: (() => void)[] = [];

  constructor(
    private readonly scheduler: LocalScheduler,
    private readonly attempt: Attempt,
    private readonly claims: Claims,
    private readonly results: RecordResults,
    private readonly handoff: DeliveryHandoff,
    private readonly targets: Targets,
    private readonly circuits: CircuitWatch,
    private readonly notifications: Notifications,
    private readonly listeners: DeliveryListeners,
    private readonly log: DeliveryLog,
    private readonly load: LoadMonitor,
  ) {}

  /** Connects the local scheduler, and subscribes to changes after which a target accepts no more deliveries. */
  start(onLeft: () => void): void {
    this.scheduler.connect((turn) => void this.run(turn), onLeft);
    this.handoff.attachScheduler(this.scheduler);
    this.circuits.onOpen((environmentId, targetId) => this.background(this.parkTarget(environmentId, targetId)));
    this.notifications.on('destination', (key) => this.background(this.notifyChange(key)));
    // Ends deliveries to destinations that became inactive while no worker was running.
    this.background(this.endInactive());
  }

  idle(): Promise<void> {
    if (this.turnsRunning === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleListeners.push(resolve));
  }

  private async run(deliveryTurn: DeliveryTurn): Promise<void> {
    this.load.recordDelivery();
    this.turnsRunning += 1;
    let performed: Performed | null = null;
    try {
      performed = await this.attempt.perform(deliveryTurn.delivery, deliveryTurn.probe, () =>
        this.scheduler.onLinger(deliveryTurn),
      );
      this.scheduler.recordAnswer(deliveryTurn, performed.outcome, performed.result.attempt?.error === 'timeout');
      // The result is recorded before the circuit is updated. A crash in between loses only the update, never the
      // attempt.
      const held = await this.results.record(performed.result);
      this.scheduler.releaseSlot(deliveryTurn);
      if (held) {
        const learning = this.publishResult(deliveryTurn.delivery, performed);
        if (learning !== undefined) await learning.catch((error: unknown) => this.warn(error));
      }
    } catch (error) {
      if (performed === null) this.scheduler.recordAnswer(deliveryTurn, null);
      await (performed === null && error instanceof Withheld
        ? this.releaseClaim(deliveryTurn)
        : this.handleFailure(deliveryTurn, error));
    } finally {
      this.turnsRunning -= 1;
      if (this.turnsRunning === 0) for (const resolve of this.idleListeners.splice(0)) resolve();
    }
  }

  /**
   * Logs and announces a result, and updates the circuit. An error here is only logged, because a thrown error would
   * record the delivery a second time.
   */
  private publishResult(delivery: ClaimedDelivery, performed: Performed): Promise<void> | undefined {
    try {
      this.log.logResult(delivery, performed);
      if (this.listeners.hasListeners) this.listeners.notify(delivery, performed);
      return performed.outcome === null ? undefined : this.updateCircuit(delivery, performed, performed.outcome);
    } catch (error) {
      this.warn(error);
      return undefined;
    }
  }

  /**
   * Releases the claim of a delivery that was not sent. Has no effect if another worker has taken over the delivery and
   * may be sending it.
   */
  private async releaseClaim(deliveryTurn: DeliveryTurn): Promise<void> {
    await this.claims.release([deliveryTurn.delivery], false).catch((error: unknown) => this.warn(error));
    this.scheduler.releaseSlot(deliveryTurn);
  }

  /** Updates the circuit. Returns a promise only if the circuit changes. Repeated successes change nothing. */
  private updateCircuit(
    { environmentId, targetId }: ClaimedDelivery,
    performed: Performed,
    outcome: Outcome,
  ): Promise<void> | undefined {
    const { target, result } = performed;
    const counted = this.circuits.count(
      environmentId,
      targetId,
      outcome,
      target?.failureThreshold ?? FAILURE_THRESHOLD_DEFAULT,
    );
    return counted === undefined && result.status === 'delivered'
      ? undefined
      : this.applyResult({ environmentId, targetId }, performed, counted);
  }

  private async applyResult(
    { environmentId, targetId }: TargetKey,
    { target, result }: Performed,
    counted: Promise<void> | undefined,
  ): Promise<void> {
    await counted;
    if (result.reason === 'gone' && target?.destinationId) {
      await this.targets.disable(environmentId, target.destinationId, 'The receiver answered 410 Gone.');
    }
    // If the destination was disabled or deleted during the attempt, its waiting deliveries have already failed. This
    // delivery was in flight at that time, so it fails now.
    if (result.status === 'retrying' && target?.destinationId)
      await this.notifyChange(targetKey(environmentId, targetId));
  }

  /** Postpones a delivery that must wait or had an internal error. Uses up no attempt: the target is not at fault. */
  private async handleFailure(deliveryTurn: DeliveryTurn, error: unknown): Promise<void> {
    if (!(error instanceof Postponed))
      this.logger.error(`A delivery could not be run: ${(error as Error).stack ?? String(error)}`);
    await this.results
      .record(this.attempt.postponed(deliveryTurn.delivery, error))
      .catch((failure: unknown) => this.warn(failure));
    this.scheduler.releaseSlot(deliveryTurn);
  }

  /**
   * Called when a target's circuit opens. Makes all deliveries of the target wait for the circuit: those waiting in
   * this process, and those in the table.
   */
  private async parkTarget(environmentId: number, targetId: Id): Promise<void> {
    await this.claims.release(this.scheduler.evict(environmentId, targetId), true);
    await this.claims.park(environmentId, targetId);
  }

  /** Handles a changed destination. If it was deleted or disabled, its waiting deliveries fail. */
  private async notifyChange(key: string): Promise<void> {
    if (key === '*') return this.endInactive();
    const [environment, targetId] = key.split(':');
    if (!environment || !targetId) return;
    const environmentId = Number(environment);
    const target = await this.targets.ofDestination(environmentId, targetId);
    if (target?.status === 'active') return;
    await this.claims.release(this.scheduler.evict(environmentId, targetId), true);
    await this.claims.failWaiting(environmentId, targetId, target ? 'target_disabled' : 'target_gone');
  }

  /** Ends deliveries to inactive targets. Needed after notifications were missed or no worker was running. */
  private async endInactive(): Promise<void> {
    let after: TargetKey | null = null;
    do {
      const { targets, last }: { targets: TargetKey[]; last: TargetKey | null } =
        await this.claims.waitingDestinations(after);
      for (const { environmentId, targetId } of targets) await this.notifyChange(targetKey(environmentId, targetId));
      after = last;
    } while (after !== null);
  }

  private background(work: Promise<void>): void {
    work.catch((error: unknown) => this.warn(error));
  }

  private warn(error: unknown): void {
    this.logger.warn(`Follow-up failed: ${(error as Error).message}`);
  }
}

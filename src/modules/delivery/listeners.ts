import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { AttemptError } from '#engine/outcome.js';
import { providersExtending } from '#kernel/extension-points.js';
import { showId } from '#kernel/ids.js';
import { type AttemptReport, DeliveryListener } from '#modules/delivery/contract.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { Performed } from './attempt.js';

/** Maximum number of unfinished listener calls. A hanging listener must not fill the memory. */
const UNENDED_MAX = 1_000;

/** Notifies extensions' listeners about attempts. Builds no report if there are no listeners. */
@Injectable()
export class DeliveryListeners implements OnModuleInit {
  private readonly logger = new Logger('Extensions');
  private listeners: readonly DeliveryListener[] = [];
  private unended = 0;
  private isComplaining = false;

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    this.listeners = providersExtending(this.discovery, DeliveryListener);
  }

  get hasListeners(): boolean {
    return this.listeners.length > 0;
  }

  notify(delivery: ClaimedDelivery, { result, target }: Performed): void {
    if (result.attempt === null || target === null) return;
    const report: AttemptReport = {
      environmentId: delivery.environmentId,
      webhookId: showId(delivery.direction === 'inbound' ? 'evt' : 'msg', delivery.messageId ?? delivery.eventId),
      eventType: delivery.eventType,
      destination: target.destinationId && showId('dst', target.destinationId),
      type: target.type,
      number: result.attempt.number,
      startedAt: new Date(result.attempt.startedAtMs),
      durationMs: result.attempt.durationMs,
      status: result.attempt.httpStatus,
      error: result.attempt.error as AttemptError | null,
      replayed: delivery.replayed,
    };
    const { status: next } = result;
    for (const listener of this.listeners) {
      if (next === 'delivered') this.call(listener, () => listener.delivered?.(report));
      else this.call(listener, () => listener.attemptFailed?.({ ...report, next, retryInMs: result.dueInMs }));
    }
  }

  private call(listener: DeliveryListener, work: () => void | Promise<void>): void {
    if (this.unended >= UNENDED_MAX) return this.complain();
    try {
      const working = work();
      if (!(working instanceof Promise)) return;
      this.unended += 1;
      working
        .catch((error: unknown) => this.failed(listener, error))
        .finally(() => this.ended())
        .catch(() => undefined);
    } catch (error) {
      this.failed(listener, error);
    }
  }

  private ended(): void {
    this.unended -= 1;
    if (this.unended === 0) this.isComplaining = false;
  }

  private failed({ constructor }: DeliveryListener, error: unknown): void {
    this.logger.error(
      `The delivery listener ${constructor.name} failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }

  private complain(): void {
    if (this.isComplaining) return;
    this.isComplaining = true;
    this.logger.warn(`Delivery listeners have not finished ${UNENDED_MAX} calls: they are skipped until they do.`);
  }
}

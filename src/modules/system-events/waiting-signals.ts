import { Injectable } from '@nestjs/common';
import { DestinationNames, shownTarget } from '#modules/destinations/contract.js';
import { SignalsStore } from './signals.store.js';

/** Keeps what waits in order: every signal with its details, and few of them. */
@Injectable()
export class WaitingSignals {
  constructor(
    private readonly store: SignalsStore,
    private readonly names: DestinationNames,
  ) {}

  async tidy(): Promise<void> {
    await this.describe();
    await this.store.fold();
  }

  /**
   * Dead letters are counted by the job that folds metrics, which knows no more than an id: whose it is, is found out
   * here. Those of inbound endpoints are dropped: what their routes' targets did is told of the targets.
   */
  private async describe(): Promise<void> {
    for (const { environmentId, subjects } of await this.store.unknown()) {
      const found = await this.names.find(environmentId, subjects);
      const details = new Map(found.map((destination) => [destination.id, shownTarget(destination)]));
      if (details.size > 0) await this.store.describe(environmentId, details);
      await this.store.drop(
        environmentId,
        subjects.filter((subject) => !details.has(subject)),
      );
    }
  }
}

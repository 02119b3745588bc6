import { Injectable } from '@nestjs/common';
import { shownTarget } from '#modules/destinations/contract.js';
import { DestinationNamesStore } from '#modules/destinations/destination-names.store.js';
import { SignalsStore } from './signals.store.js';

@Injectable()
export class WaitingSignals {
  constructor(
    private readonly store: SignalsStore,
    private readonly names: DestinationNamesStore,
  ) {}

  async tidy(): Promise<void> {
    await this.describe();
    await this.store.fold();
  }

  /**
   * Adds details to signals about dead letters, because the metrics job records only an id. Deletes signals about
   * inbound endpoints, because the targets of their routes are reported separately.
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

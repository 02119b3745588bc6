import { Injectable } from '@nestjs/common';
import { MailArrivals } from '../contract.js';

/** Avoids a dependency between the two sides. */
@Injectable()
export class MailArrivalSignal extends MailArrivals {
  private readonly listeners: (() => void)[] = [];

  override onArrival(listener: () => void): void {
    this.listeners.push(listener);
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }
}

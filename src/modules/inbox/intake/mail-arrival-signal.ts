import { Injectable } from '@nestjs/common';
import { MailArrivals } from '../contract.js';

/** Connects accepting and reading mail without a dependency between them. */
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

import { Injectable } from '@nestjs/common';
import { MailArrivals } from '../contract.js';

/** A bell: who rings it does not know who hears it. */
@Injectable()
export class ArrivalBell extends MailArrivals {
  private readonly listeners: (() => void)[] = [];

  override onArrival(listener: () => void): void {
    this.listeners.push(listener);
  }

  ring(): void {
    for (const listener of this.listeners) listener();
  }
}

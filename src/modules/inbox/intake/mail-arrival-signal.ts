import { Injectable } from '@nestjs/common';

/** Notifies the code that reads mail about accepted mail. Reading and accepting thus do not depend on each other. */
@Injectable()
export class MailArrivalSignal {
  private readonly listeners: (() => void)[] = [];

  /** Registers a listener that runs after each commit of received messages. */
  onArrival(listener: () => void): void {
    this.listeners.push(listener);
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }
}

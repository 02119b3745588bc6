import { Injectable } from '@nestjs/common';

/** Notifies the mail pipeline about accepted mail. The code that accepts mail thus does not depend on the pipeline. */
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

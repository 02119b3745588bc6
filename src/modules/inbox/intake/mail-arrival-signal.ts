import { Injectable } from '@nestjs/common';

/** Connects accepting and reading mail without a dependency between them. */
@Injectable()
export class MailArrivalSignal {
  private readonly listeners: (() => void)[] = [];

  /** The listener runs after each commit of messages. */
  onArrival(listener: () => void): void {
    this.listeners.push(listener);
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }
}

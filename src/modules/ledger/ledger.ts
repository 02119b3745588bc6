import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Ledger, type NewEvent, type NewMessage, type ReceivedEvent } from './accept.contract.js';
import { Accept } from './accept.js';
import { FanOut } from './fan-out.js';
import { Receive } from './receive.js';

/** One group commit for each of the three kinds of accept. */
@Injectable()
export class GroupLedger extends Ledger implements OnApplicationShutdown {
  constructor(
    private readonly sends: Accept,
    private readonly fanOuts: FanOut,
    private readonly receives: Receive,
  ) {
    super();
  }

  override accept(event: NewEvent): Promise<void> {
    return this.sends.accept(event);
  }

  override acceptWithin(event: NewEvent): Promise<void> {
    return this.sends.acceptWithin(event);
  }

  override fanOut(message: NewMessage): Promise<void> {
    return this.fanOuts.fanOut(message);
  }

  override receive(event: ReceivedEvent): Promise<void> {
    return this.receives.receive(event);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.sends.drained(), this.fanOuts.drained(), this.receives.drained()]);
  }
}

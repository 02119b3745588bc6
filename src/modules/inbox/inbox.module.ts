import { Global, Module } from '@nestjs/common';
import { ArrivalBell } from './arrivals.js';
import { MailArrivals } from './contract.js';

/** Receiving mail: aliases, and the messages that come to them. */
@Global()
@Module({
  providers: [ArrivalBell, { provide: MailArrivals, useExisting: ArrivalBell }],
  exports: [MailArrivals],
})
export class InboxModule {}

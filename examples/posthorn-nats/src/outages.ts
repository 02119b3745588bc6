import { Injectable, Logger } from '@nestjs/common';
import { SystemEvents } from 'posthorn';

/** Logs outages for the operator. */
@Injectable()
export class Outages {
  private readonly logger = new Logger(Outages.name);

  constructor(events: SystemEvents) {
    events.on('circuit.opened', async ({ data }) => {
      const ids = data.items.map(({ destination, endpoint }) => String(destination ?? endpoint));
      this.logger.warn(`Deliveries are held back because these targets do not respond: ${ids.join(', ')}.`);
    });
  }
}

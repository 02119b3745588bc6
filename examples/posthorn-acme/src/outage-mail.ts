import { Injectable } from '@nestjs/common';
import { MessageSender, showId, SystemEvents, Tenants } from 'posthorn';

const OPERATOR = process.env['ACME_OPERATOR'] ?? 'delivered@simulator.localhost';
const SENDER = process.env['ACME_SENDER'] ?? 'acme@simulator.localhost';

/** Sends an email to the operator when a circuit opens. */
@Injectable()
export class OutageMail {
  constructor(events: SystemEvents, tenants: Tenants, sender: MessageSender) {
    events.on('circuit.opened', async ({ id, environmentId, data }) => {
      const tenant = await tenants.ofEnvironment(environmentId);
      // Null if the environment was deleted in the meantime.
      if (tenant === null) return;
      const subject = `${data.count} circuits of ${showId('org', tenant.organizationId)} are open`;
      await sender.sendEmail(
        tenant,
        { from: SENDER, to: OPERATOR, subject, text: JSON.stringify(data.items, null, 2) },
        { idempotencyKey: `circuit.opened ${id}` },
      );
    });
  }
}

import { Injectable } from '@nestjs/common';
import { MessageSender, type Tenant } from 'posthorn';

export interface Invoice {
  number: string;
  destination: string;
}

/** Sends the events of invoices. */
@Injectable()
export class Invoices {
  constructor(private readonly sender: MessageSender) {}

  /** Returns the id of the message. A repeated call for the same invoice sends nothing. */
  async sendPaid(tenant: Tenant, { number, destination }: Invoice): Promise<string> {
    const { message_id: id } = await this.sender.send(
      tenant,
      { destination, event_type: 'invoice.paid', payload: { number } },
      { idempotencyKey: `invoice ${number} paid` },
    );
    return id;
  }
}

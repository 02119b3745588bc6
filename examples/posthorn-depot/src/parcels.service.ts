import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MessageSender, type Tenant } from 'posthorn';
import { Repository } from 'typeorm';
import { ParcelEntity } from './parcel.entity.js';
import type { CreateParcelDto } from './parcels.dto.js';

@Injectable()
export class ParcelsService {
  constructor(
    @InjectRepository(ParcelEntity) private readonly parcels: Repository<ParcelEntity>,
    private readonly sender: MessageSender,
  ) {}

  create({ environmentId }: Tenant, { order_id: orderId, recipient }: CreateParcelDto): Promise<ParcelEntity> {
    return this.parcels.save(this.parcels.create({ environmentId, orderId, recipient }));
  }

  list({ environmentId }: Tenant, recipient: string | undefined): Promise<ParcelEntity[]> {
    const where = recipient === undefined ? { environmentId } : { environmentId, recipient };
    return this.parcels.find({ where, order: { orderId: 'asc' }, take: 100 });
  }

  /** Removes the parcel and sends its event in one transaction. A repeated call sends nothing. */
  async handOver({ environmentId, ...tenant }: Tenant, id: string, destination: string): Promise<string> {
    const parcel = await this.parcels.findOneBy({ environmentId, id });
    if (parcel === null) throw new NotFoundException('No such parcel.');
    await this.parcels.delete({ id });
    const { message_id: messageId } = await this.sender.send(
      { environmentId, ...tenant },
      { destination, event_type: 'parcel.collected', payload: { order_id: parcel.orderId } },
      { idempotencyKey: `parcel ${id} collected` },
    );
    return messageId;
  }
}

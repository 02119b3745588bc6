import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Tenant } from 'posthorn';
import { Repository } from 'typeorm';
import { ContactEntity } from './contact.entity.js';
import type { CreateContactDto } from './contacts.dto.js';

@Injectable()
export class ContactsService {
  constructor(@InjectRepository(ContactEntity) private readonly contacts: Repository<ContactEntity>) {}

  create({ environmentId }: Tenant, { name, phone = undefined }: CreateContactDto): Promise<ContactEntity> {
    return this.contacts.save(this.contacts.create({ environmentId, name, phone: phone ?? null }));
  }

  /** Stores all contacts or none, because every write of a request is in one transaction. */
  async import(tenant: Tenant, contacts: readonly CreateContactDto[]): Promise<number> {
    for (const contact of contacts) await this.create(tenant, contact);
    return this.contacts.countBy({ environmentId: tenant.environmentId });
  }

  list({ environmentId }: Tenant): Promise<ContactEntity[]> {
    return this.contacts.find({ where: { environmentId }, order: { name: 'asc' }, take: 100 });
  }

  async find({ environmentId }: Tenant, id: string): Promise<ContactEntity> {
    const contact = await this.contacts.findOneBy({ environmentId, id });
    if (contact === null) throw new NotFoundException('No such contact.');
    return contact;
  }
}

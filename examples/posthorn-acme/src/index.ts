import { type DynamicModule, Module } from '@nestjs/common';
import { Extension, type Role } from 'posthorn';
import { AcmeBlobs } from './acme-blobs.js';
import { AcmeTransport } from './acme-transport.js';
import { InvoicesController } from './invoices.controller.js';
import { Invoices } from './invoices.js';
import { OutageMail } from './outage-mail.js';
import { AcmePayPreset, AcmeShopPreset } from './presets.js';

/** Adds presets, an email transport, a blob store, a route that sends from code, and emails about outages. */
@Extension({ name: 'acme' })
@Module({})
export default class AcmeModule {
  static register(role: Role): DynamicModule {
    return {
      module: AcmeModule,
      controllers: [InvoicesController],
      providers: [
        AcmeBlobs,
        AcmePayPreset,
        AcmeShopPreset,
        AcmeTransport,
        Invoices,
        ...(role === 'api' ? [] : [OutageMail]),
      ],
    };
  }
}

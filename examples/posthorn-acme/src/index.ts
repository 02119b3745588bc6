import { type DynamicModule, Module } from '@nestjs/common';
import { Extension, type Role } from 'posthorn';
import { InvoicesController } from './invoices.controller.js';
import { Invoices } from './invoices.js';
import { OutageMail } from './outage-mail.js';
import { AcmePayPreset, AcmeShopPreset } from './presets.js';

/** Adds presets, a route that sends from code, and emails about outages. */
@Extension({ name: 'acme' })
@Module({})
export default class AcmeModule {
  static register(role: Role): DynamicModule {
    return {
      module: AcmeModule,
      controllers: [InvoicesController],
      providers: [AcmePayPreset, AcmeShopPreset, Invoices, ...(role === 'api' ? [] : [OutageMail])],
    };
  }
}

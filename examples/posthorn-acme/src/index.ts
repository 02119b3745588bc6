import { type DynamicModule, Module } from '@nestjs/common';
import { Extension, type Role } from 'posthorn';
import { InvoicesController } from './invoices.controller.js';
import { Invoices } from './invoices.js';
import { OutageMail } from './outage-mail.js';

/** Adds a route that sends from code, and emails about outages. */
@Extension({ name: 'acme' })
@Module({})
export default class AcmeModule {
  static for(role: Role): DynamicModule {
    return {
      module: AcmeModule,
      controllers: [InvoicesController],
      providers: [Invoices, ...(role === 'api' ? [] : [OutageMail])],
    };
  }
}

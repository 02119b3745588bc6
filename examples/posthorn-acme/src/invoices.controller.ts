import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation } from '@nestjs/swagger';
import { Audit, CurrentTenant, Scope, Section, type Tenant } from 'posthorn';
import { AcmeInvoiceBody, AcmeInvoiceSent } from './acme.dto.js';
import { Invoices } from './invoices.js';

@Section('Acme', 'Events of invoices.')
@Controller('v1/acme/invoices')
export class InvoicesController {
  constructor(private readonly invoices: Invoices) {}

  @Post('paid')
  @Audit('never')
  @Scope('write')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Report a paid invoice',
    description: 'Sends `invoice.paid` once per invoice, however often it is reported.',
  })
  @ApiAcceptedResponse({ type: AcmeInvoiceSent, description: 'The event is accepted.' })
  async reportAcmeInvoice(@CurrentTenant() tenant: Tenant, @Body() invoice: AcmeInvoiceBody): Promise<AcmeInvoiceSent> {
    return { message_id: await this.invoices.sendPaid(tenant, invoice) };
  }
}

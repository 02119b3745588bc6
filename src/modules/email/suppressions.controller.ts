import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import { ResendErrors } from '#http/resend-errors.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  NewSuppressionBody,
  presentBatch,
  presentSuppression,
  presentSuppressions,
  SuppressionBatch,
  SuppressionBatchBody,
  SuppressionItem,
  SuppressionListQuery,
  SuppressionPage,
} from './suppressions.dto.js';
import { SuppressionsService } from './suppressions.service.js';

const ID = {
  name: 'id',
  description: 'Id of the suppression, or its email address (percent-encoded).',
  example: 'customer@example.org',
};

/** API that manages the suppression list: addresses that receive no email. */
@Section('Suppressions', 'Addresses that receive no email: they bounced, their owners complained, or you added them.')
@ResendErrors()
@Controller('v1/suppressions')
export class SuppressionsController {
  constructor(private readonly suppressions: SuppressionsService) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List suppressions',
    description:
      'Returns the newest suppressions first. The list is checked when an email is accepted and before each attempt.',
  })
  @ApiOkResponse({ type: SuppressionPage, description: 'One page of suppressions.' })
  async listSuppressions(
    @CurrentTenant() tenant: Tenant,
    @Query() query: SuppressionListQuery,
  ): Promise<SuppressionPage> {
    return presentSuppressions(await this.suppressions.list(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Suppress an address',
    description:
      'No email is sent to the address after this call. This includes emails that are waiting for their next attempt.',
  })
  @ApiCreatedResponse({ type: SuppressionItem, description: 'The suppression.' })
  @ApiConflictResponse({
    description: 'The address is already on the list.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  async createSuppression(@CurrentTenant() tenant: Tenant, @Body() body: NewSuppressionBody): Promise<SuppressionItem> {
    return presentSuppression(await this.suppressions.add(tenant, body.email));
  }

  @Post('batch/add')
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Suppress several addresses',
    description:
      'Adds up to 100 addresses, all or none. An address that is already on the list keeps its suppression, which the response contains. One invalid address rejects the request with 422, and `details.fields` names every invalid address.',
  })
  @ApiOkResponse({ type: SuppressionBatch, description: 'The suppressions.' })
  async createSuppressions(
    @CurrentTenant() tenant: Tenant,
    @Body() { emails }: SuppressionBatchBody,
  ): Promise<SuppressionBatch> {
    return presentBatch(await this.suppressions.addAll(tenant, emails));
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({
    summary: 'Get a suppression',
    description: 'Finds the suppression by its id or by its email address.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: SuppressionItem, description: 'The suppression.' })
  async getSuppression(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<SuppressionItem> {
    return presentSuppression(await this.suppressions.find(tenant, id));
  }

  @Delete(':id')
  @Audit()
  @HttpCode(204)
  @Scope('write')
  @ApiOperation({
    summary: 'Remove a suppression',
    description: 'Later emails are sent to the address again.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The removal succeeded.' })
  async deleteSuppression(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.suppressions.remove(tenant, id);
  }
}

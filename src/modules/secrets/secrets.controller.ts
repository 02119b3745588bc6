import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
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
import type { Tenant } from '#kernel/tenant.js';
import { SecretKeeper } from './secret-keeper.js';
import {
  newSecret,
  NewSecretBody,
  presentItem,
  presentPage,
  presentSecret,
  secretChanges,
  SecretChangesBody,
  SecretDetail,
  secretId,
  SecretItem,
  SecretListQuery,
  SecretPage,
} from './secrets.dto.js';
import { SecretsService } from './secrets.service.js';

const ID = { name: 'id', description: 'Id of the secret.', example: 'sec_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** Manages secrets: named values that the API can write but not read. */
@Section(
  'Secrets',
  'Named values for headers and code, used as `{{secrets.NAME}}`. They are stored encrypted and never returned.',
)
@Controller('v1/secrets')
export class SecretsController {
  constructor(
    private readonly secrets: SecretsService,
    private readonly keeper: SecretKeeper,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'List secrets', description: 'Returns the secrets without their values, newest first.' })
  @ApiOkResponse({ type: SecretPage, description: 'One page of secrets.' })
  async listSecrets(@CurrentTenant() tenant: Tenant, @Query() query: SecretListQuery): Promise<SecretPage> {
    return presentPage(await this.secrets.list(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Create a secret',
    description: 'The value is never returned. An environment has at most 1,000 secrets.',
  })
  @ApiCreatedResponse({ type: SecretItem, description: 'The secret, without its value.' })
  async createSecret(@CurrentTenant() tenant: Tenant, @Body() body: NewSecretBody): Promise<SecretItem> {
    return presentItem(await this.keeper.create(tenant, newSecret(body)));
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({
    summary: 'Get a secret',
    description: 'Returns the secret without its value, and the resources that use it.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: SecretDetail, description: 'The secret, without its value.' })
  async getSecret(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<SecretDetail> {
    return presentSecret(await this.secrets.find(tenant, secretId(id)));
  }

  @Put(':id')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change a secret',
    description:
      'A new value creates a new version. All resources that use the secret switch to it within five seconds.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: SecretDetail, description: 'The changed secret, without its value.' })
  async updateSecret(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: SecretChangesBody,
  ): Promise<SecretDetail> {
    return presentSecret(await this.keeper.change(tenant, secretId(id), secretChanges(body)));
  }

  @Delete(':id')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a secret',
    description: 'Returns 409 while the secret is in use; `details.used_by` lists the resources that use it.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The secret was deleted.' })
  @ApiConflictResponse({
    description: 'The secret is in use. `details.used_by` lists the resources that use it.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  async deleteSecret(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.keeper.remove(tenant, secretId(id));
  }
}

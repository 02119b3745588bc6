import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiBadRequestResponse,
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
import { Section, TryAfter } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import type { AliasEntity } from '../inbox.entities.js';
import { AliasRegistration } from './alias-registration.js';
import {
  AliasChangesBody,
  AliasItem,
  AliasListQuery,
  AliasPage,
  aliasSettings,
  newAlias,
  NewAliasBody,
  presentAlias,
  presentAliases,
} from './aliases.dto.js';
import { AliasesService } from './aliases.service.js';

const ALIAS = {
  name: 'alias',
  description: 'Id of the alias, or its full address (percent-encoded).',
  example: 'al_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};
const ERROR = { $ref: '#/components/schemas/Error' };

/** Manages the addresses that receive mail. */
@Section(
  'Aliases',
  'Addresses that receive mail. Each message becomes an event of type email.received, which is sent to the destinations of its alias.',
)
@Controller('v1/aliases')
export class AliasesController {
  constructor(
    private readonly aliases: AliasesService,
    private readonly registration: AliasRegistration,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'List aliases', description: 'Returns the newest items first.' })
  @ApiOkResponse({ type: AliasPage, description: 'One page of aliases.' })
  async listAliases(@CurrentTenant() tenant: Tenant, @Query() query: AliasListQuery): Promise<AliasPage> {
    const page = await this.aliases.list(tenant, query);
    return presentAliases(page, await this.aliases.forwardStates(tenant, page.rows));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Create an alias',
    description: 'The alias accepts mail after at most five seconds. An environment has at most 10,000 aliases.',
  })
  @ApiCreatedResponse({ type: AliasItem, description: 'The alias, with its address.' })
  @ApiBadRequestResponse({ description: 'The address is malformed or reserved.', schema: ERROR })
  @ApiConflictResponse({ description: 'The organization already has an alias with this address.', schema: ERROR })
  async createAlias(@CurrentTenant() tenant: Tenant, @Body() body: NewAliasBody): Promise<AliasItem> {
    return this.present(tenant, await this.registration.create(tenant, newAlias(body)));
  }

  @Get(':alias')
  @Scope('read')
  @ApiOperation({ summary: 'Get an alias', description: 'Finds the alias by its id or its address.' })
  @ApiParam(ALIAS)
  @ApiOkResponse({ type: AliasItem, description: 'The alias.' })
  async getAlias(@CurrentTenant() tenant: Tenant, @Param('alias') alias: string): Promise<AliasItem> {
    return this.present(tenant, await this.aliases.find(tenant, alias));
  }

  @Patch(':alias')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change an alias',
    description:
      'Omitted fields keep their values. The address cannot be changed: a request that tries to change it is rejected with 422.',
  })
  @ApiParam(ALIAS)
  @ApiOkResponse({ type: AliasItem, description: 'The alias after the change.' })
  async changeAlias(
    @CurrentTenant() tenant: Tenant,
    @Param('alias') alias: string,
    @Body() body: AliasChangesBody,
  ): Promise<AliasItem> {
    return this.present(tenant, await this.aliases.change(tenant, alias, aliasSettings(body)));
  }

  @Delete(':alias')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete an alias',
    description:
      'After at most five seconds, new mail is rejected with 550. Received messages stay readable as events until their retention ends.',
  })
  @ApiParam(ALIAS)
  @ApiNoContentResponse({ description: 'The alias was deleted.' })
  @TryAfter('Received mail')
  async deleteAlias(@CurrentTenant() tenant: Tenant, @Param('alias') alias: string): Promise<void> {
    await this.aliases.remove(tenant, alias);
  }
  private async present(tenant: Tenant, row: AliasEntity): Promise<AliasItem> {
    return presentAlias(row, await this.aliases.forwardStates(tenant, [row]));
  }
}

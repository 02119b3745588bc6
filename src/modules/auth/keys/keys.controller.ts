import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { KeyLifecycle } from './key-lifecycle.js';
import {
  IssuedKeyItem,
  keyId,
  KeyItem,
  KeyListQuery,
  KeyPage,
  KeyRotationBody,
  newKey,
  NewKeyBody,
  presentIssuedKey,
  presentKey,
  presentKeys,
} from './keys.dto.js';
import { KeysService } from './keys.service.js';

const ID = { name: 'id', description: 'The API key.', example: 'ek_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const GRACE_SECONDS_DEFAULT = 86_400;

/** API keys of the organization. */
@Section('Keys', 'API keys of the organization. A key is shown once, when it is created. Only its SHA-256 is stored.')
@Controller('v1/keys')
export class KeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly lifecycle: KeyLifecycle,
  ) {}

  @Get()
  @Scope('admin')
  @ApiOperation({
    summary: 'List API keys',
    description: "Lists the keys of the calling key's environment, newest first. The list includes revoked keys.",
  })
  @ApiOkResponse({ type: KeyPage, description: 'One page of keys.' })
  async listKeys(@CurrentTenant() tenant: Tenant, @Query() query: KeyListQuery): Promise<KeyPage> {
    return presentKeys(await this.keys.list(tenant, query), tenant.mode);
  }

  @Post()
  @Audit()
  @Scope('admin')
  @Idempotent()
  @ApiOperation({
    summary: 'Create an API key',
    description: 'The key itself (`key`) is returned only in this response.',
  })
  @ApiCreatedResponse({ type: IssuedKeyItem, description: 'The API key.' })
  async createKey(@CurrentTenant() tenant: Tenant, @Body() body: NewKeyBody): Promise<IssuedKeyItem> {
    return presentIssuedKey(await this.lifecycle.create(tenant, newKey(body, tenant.mode)));
  }

  @Get(':id')
  @Scope('admin')
  @ApiOperation({ summary: 'Get an API key' })
  @ApiParam(ID)
  @ApiOkResponse({ type: KeyItem, description: 'The key without its secret text.' })
  async getKey(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<KeyItem> {
    return presentKey(await this.keys.find(tenant, keyId(id)), tenant.mode);
  }

  @Delete(':id')
  @Audit()
  @Scope('admin')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Revoke an API key',
    description:
      'The key is rejected immediately on the node that handles the call, and within five seconds on all nodes.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The key was revoked.' })
  async revokeKey(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.lifecycle.revoke(tenant, keyId(id));
  }

  @Post(':id/rotate')
  @Audit()
  @Scope('admin')
  @HttpCode(200)
  @Idempotent()
  @ApiOperation({
    summary: 'Rotate an API key',
    description:
      'Creates a new key with the settings of the old one. The old key stays valid until the grace period ends. The grace period is one day unless `grace_seconds` is set.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: IssuedKeyItem, description: 'The new key.' })
  async rotateKey(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: KeyRotationBody,
  ): Promise<IssuedKeyItem> {
    return presentIssuedKey(
      await this.lifecycle.rotate(tenant, keyId(id), (body.grace_seconds ?? GRACE_SECONDS_DEFAULT) * 1000),
    );
  }
}

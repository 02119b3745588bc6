import { Body, Controller, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { SigningSecretsService } from '../environments/signing-secrets.service.js';
import {
  organizationChanges,
  OrgChangesBody,
  OrgItem,
  presentOrganization,
  SecretRotationBody,
  SigningSecret,
} from './own-organization.dto.js';
import { OrganizationService } from './own-organization.service.js';

const GRACE_SECONDS_DEFAULT = 86_400;

/** The caller's organization, and the secret that signs deliveries to ad-hoc URLs. */
@Section('Organization', 'The organization of the calling key, and the secret that signs deliveries to ad-hoc URLs.')
@Controller('v1')
export class OrgController {
  constructor(
    private readonly organization: OrganizationService,
    private readonly secrets: SigningSecretsService,
  ) {}

  @Get('org')
  @Scope('read')
  @ApiOperation({ summary: 'Get the organization' })
  @ApiOkResponse({ type: OrgItem, description: 'The organization.' })
  async getOrganization(@CurrentTenant() tenant: Tenant): Promise<OrgItem> {
    return presentOrganization(await this.organization.get(tenant));
  }

  @Patch('org')
  @Audit()
  @Scope('admin')
  @ApiOperation({ summary: 'Change the organization' })
  @ApiOkResponse({ type: OrgItem, description: 'The changed organization.' })
  async updateOrganization(@CurrentTenant() tenant: Tenant, @Body() body: OrgChangesBody): Promise<OrgItem> {
    return presentOrganization(await this.organization.update(tenant, organizationChanges(body)));
  }

  @Get('signing-secret')
  @Scope('write')
  @ApiOperation({
    summary: 'Get the signing secret',
    description: 'Returns the secret that signs deliveries to URLs that are not registered as destinations.',
  })
  @ApiOkResponse({ type: SigningSecret, description: 'The current secret.' })
  async getSigningSecret(@CurrentTenant() tenant: Tenant): Promise<SigningSecret> {
    return { secret: await this.secrets.show(tenant) };
  }

  @Post('signing-secret/rotate')
  @Audit()
  @Scope('write')
  @HttpCode(200)
  @Idempotent()
  @ApiOperation({
    summary: 'Rotate the signing secret',
    description: 'Deliveries are signed with both the old and the new secret until the grace period ends.',
  })
  @ApiOkResponse({ type: SigningSecret, description: 'The new secret.' })
  async rotateSigningSecret(@CurrentTenant() tenant: Tenant, @Body() body: SecretRotationBody): Promise<SigningSecret> {
    return { secret: await this.secrets.rotate(tenant, (body.grace_seconds ?? GRACE_SECONDS_DEFAULT) * 1000) };
  }
}

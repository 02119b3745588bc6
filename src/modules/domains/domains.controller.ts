import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
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
import { Section, TryNeeds } from '#http/openapi-sections.js';
import { RateLimit } from '#http/rate-limit.js';
import { ResendErrors } from '#http/resend-errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { DomainChanges } from './domain-changes.js';
import { DomainDkim } from './domain-dkim.js';
import { DomainRegistration } from './domain-registration.js';
import { DomainReputations } from './domain-reputations.js';
import {
  DkimRotationBody,
  domainChange,
  DomainChangesBody,
  DomainDetail,
  domainId,
  DomainListQuery,
  DomainPage,
  newDomain,
  NewDomainBody,
  presentDomain,
  presentPage,
} from './domains.dto.js';
import { DomainsService } from './domains.service.js';

const ID = { name: 'id', description: 'Id of the domain.', example: 'dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const ERROR = { $ref: '#/components/schemas/Error' };

/** API that manages the domains of an environment. */
@Section(
  'Domains',
  'Your own domains, used as hosts of endpoints or to send and receive mail. DNS records prove that the domains are yours.',
)
@ResendErrors()
@Controller('v1/domains')
export class DomainsController {
  constructor(
    private readonly domains: DomainsService,
    private readonly registration: DomainRegistration,
    private readonly changes: DomainChanges,
    private readonly dkim: DomainDkim,
    private readonly reputations: DomainReputations,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'List domains', description: 'Returns the domains with their DNS records, newest first.' })
  @ApiOkResponse({ type: DomainPage, description: 'One page of domains.' })
  async listDomains(@CurrentTenant() tenant: Tenant, @Query() query: DomainListQuery): Promise<DomainPage> {
    return presentPage(await this.domains.list(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('admin')
  @Idempotent()
  @ApiOperation({
    summary: 'Create a domain',
    description:
      'Returns the DNS records to publish. Posthorn then checks them periodically. An environment has at most 1,000 domains.',
  })
  @ApiCreatedResponse({ type: DomainDetail, description: 'The domain, with the records to publish.' })
  @ApiConflictResponse({
    description:
      "The environment already has this domain (`details.domain`), or the domain's mail goes to another server (`details.mx`).",
    schema: ERROR,
  })
  async createDomain(@CurrentTenant() tenant: Tenant, @Body() body: NewDomainBody): Promise<DomainDetail> {
    return presentDomain(await this.registration.create(tenant, newDomain(body)));
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({
    summary: 'Get a domain',
    description: 'Returns the domain and its DNS records, with the results of the last check.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DomainDetail, description: 'The domain.' })
  async getDomain(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<DomainDetail> {
    return presentDomain(await this.domains.find(tenant, domainId(id)));
  }

  @Patch(':id')
  @Audit()
  @RateLimit({ name: 'check', count: 300, seconds: 60 })
  @Scope('admin')
  @ApiOperation({
    summary: 'Change a domain',
    description:
      'Changes the kind between `email` and `email-send`, the DKIM keys, or the reputation thresholds. Published records stay valid, and a domain that sends mail continues to send. Returns 422 for a webhook domain. New DKIM keys sign once name servers return their records. Until then, mail is signed as before.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DomainDetail, description: 'The changed domain, with the records to publish.' })
  @ApiConflictResponse({
    description:
      "The domain's mail goes to another server (`details.mx`), aliases receive mail on it (`details.used_by`), the records of the platform's key are not published (`details.records`), or the record of a previous key is still needed (`details.required_until`).",
    schema: ERROR,
  })
  async convertDomain(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: DomainChangesBody,
  ): Promise<DomainDetail> {
    const change = domainChange(body);
    const domain = domainId(id);
    if ('dkim' in change) return presentDomain(await this.dkim.choose(tenant, domain, change.dkim));
    if ('thresholds' in change)
      return presentDomain(await this.reputations.setThresholds(tenant, domain, change.thresholds));
    return presentDomain(await this.changes.convert(tenant, domain, change.conversion));
  }

  @Post(':id/dkim/rotate')
  @Audit()
  @RateLimit({ name: 'check', count: 300, seconds: 60 })
  @Scope('admin')
  @HttpCode(200)
  @TryNeeds('a domain with keys of its own: set `dkim.mode` to `domain` first')
  @ApiOperation({
    summary: 'Rotate the DKIM keys of a domain',
    description:
      'Adds new keys, and returns their records. A new key signs once name servers return its record. Until then, the previous key signs. A call during a rotation changes nothing.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DomainDetail, description: 'The domain, with the records of the new keys.' })
  @ApiConflictResponse({
    description:
      "The platform's key signs the domain's mail, or the record of the key before the last rotation is still needed (`details.required_until`).",
    schema: ERROR,
  })
  async rotateDomainDkim(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: DkimRotationBody,
  ): Promise<DomainDetail> {
    return presentDomain(await this.dkim.rotate(tenant, domainId(id), body.grace_seconds));
  }

  @Delete(':id')
  @Audit()
  @Scope('admin')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a domain',
    description: 'Returns 409 while an endpoint or an alias uses the domain. `details.used_by` lists them.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The resource was deleted.' })
  @ApiConflictResponse({
    description: 'The domain is in use. `details.used_by` lists the resources that use it.',
    schema: ERROR,
  })
  async deleteDomain(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.changes.remove(tenant, domainId(id));
  }

  @Post(':id/verify')
  @Audit()
  @RateLimit({ name: 'check', count: 300, seconds: 60 })
  @Scope('admin')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Check a domain now',
    description:
      'Queries the name servers for at most ten seconds, and returns the domain with all its records. A call during a check, or within five seconds after one, returns the last result. For a failed domain, starts another 72 hours in which it can be verified.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DomainDetail, description: 'The domain after the check.' })
  async verifyDomain(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<DomainDetail> {
    return presentDomain(await this.domains.verify(tenant, domainId(id)));
  }
}

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
import { Section } from '#http/openapi-sections.js';
import { RateLimit } from '#http/rate-limit.js';
import type { Tenant } from '#kernel/tenant.js';
import { DomainChanges } from './domain-changes.js';
import { DomainRegistration } from './domain-registration.js';
import {
  conversion,
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

/** Manages customers' own domains. */
@Section(
  'Domains',
  'Your own domains, used as hosts of endpoints or to send and receive mail. DNS records prove that the domains are yours.',
)
@Controller('v1/domains')
export class DomainsController {
  constructor(
    private readonly domains: DomainsService,
    private readonly registration: DomainRegistration,
    private readonly changes: DomainChanges,
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
  @Scope('admin')
  @ApiOperation({
    summary: 'Change the kind of a domain',
    description:
      'Changes the kind between `email` and `email-send`. Records that are already published stay valid, and a domain that sends keeps sending. A webhook domain is rejected with 422.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DomainDetail, description: 'The domain with its new kind.' })
  @ApiConflictResponse({
    description:
      "The domain's mail goes to another server (`details.mx`), or aliases receive mail on it (`details.used_by`).",
    schema: ERROR,
  })
  async convertDomain(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: DomainChangesBody,
  ): Promise<DomainDetail> {
    return presentDomain(await this.changes.convert(tenant, domainId(id), conversion(body)));
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
      'Queries the name servers for at most ten seconds and returns the domain with all its records. A call during a check, or within five seconds after one, returns the last result. A failed domain gets another 72 hours for verification.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DomainDetail, description: 'The domain after the check.' })
  async verifyDomain(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<DomainDetail> {
    return presentDomain(await this.domains.verify(tenant, domainId(id)));
  }
}

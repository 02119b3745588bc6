import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { IngestDomainList, presentDomains } from './ingest-domains.dto.js';
import { IngestDomains } from './ingest-domains.js';

/** Hosts that receive. */
@Section('Ingest domains', 'The hosts on which endpoints receive, with what their URLs begin with.')
@Controller('v1/ingest-domains')
export class IngestDomainsController {
  constructor(private readonly domains: IngestDomains) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List ingest domains',
    description:
      "The platform's own host, and the verified webhook domains of the environment; and the domain that their records lead to.",
  })
  @ApiOkResponse({ type: IngestDomainList, description: 'The ingest domains.' })
  async listIngestDomains(@CurrentTenant() tenant: Tenant): Promise<IngestDomainList> {
    return presentDomains(await this.domains.list(tenant), this.domains.platformDomain);
  }
}

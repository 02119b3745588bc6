import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { IngestDomainList, presentDomains } from './ingest-domains.dto.js';
import { IngestDomains } from './ingest-domains.js';

/** API that lists the hosts on which endpoints receive requests. */
@Section('Ingest domains', 'The hosts on which endpoints receive requests, with the prefix of the URLs on each host.')
@Controller('v1/ingest-domains')
export class IngestDomainsController {
  constructor(private readonly domains: IngestDomains) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List ingest domains',
    description:
      "Returns the platform's own host and the verified webhook domains of the environment. Also returns the domain name to which their DNS records point.",
  })
  @ApiOkResponse({ type: IngestDomainList, description: 'The ingest domains.' })
  async listIngestDomains(@CurrentTenant() tenant: Tenant): Promise<IngestDomainList> {
    return presentDomains(await this.domains.list(tenant), this.domains.platformDomain);
  }
}

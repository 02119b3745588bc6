import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Section } from '#http/openapi-sections.js';
import { ResendErrors } from '#http/resend-errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { DomainReputationDetail, presentReputation } from './domain-reputation.dto.js';
import { DomainReputations } from './domain-reputations.js';
import { DomainDetail, domainId, presentDomain } from './domains.dto.js';

const ID = { name: 'id', description: 'Id of the domain.', example: 'dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** API that returns the reputation of a domain, and resumes a paused domain. */
@Section(
  'Domains',
  'Your own domains, used as hosts of endpoints or to send and receive mail. DNS records prove that the domains are yours.',
)
@ResendErrors()
@Controller('v1/domains/:id')
export class DomainReputationController {
  constructor(private readonly reputations: DomainReputations) {}

  @Get('reputation')
  @Scope('read')
  @ApiOperation({
    summary: 'Get the reputation of a domain',
    description:
      'Returns the numbers of recipients, bounces and complaints, with the rates and their thresholds. Does not count mail of the test environment, or mail to or from simulator addresses.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DomainReputationDetail, description: 'The mail volume, rates and thresholds of the domain.' })
  async getDomainReputation(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<DomainReputationDetail> {
    return presentReputation(await this.reputations.find(tenant, domainId(id)));
  }

  @Post('resume')
  @Audit()
  @Scope('admin')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Resume a paused domain',
    description:
      'Sends the waiting emails within five minutes, and accepts new ones. Only mail after the resumption counts toward the thresholds. Does nothing if the domain is not paused.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DomainDetail, description: 'The domain, which is not paused.' })
  async resumeDomain(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<DomainDetail> {
    return presentDomain(await this.reputations.resume(tenant, domainId(id)));
  }
}

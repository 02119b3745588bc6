import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { SIMULATED_ROLES, simulatorHost } from '#engine/mail/simulator.js';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import { ResendErrors } from '#http/resend-errors.js';
import { Config } from '#kernel/config/config.js';
import type { Tenant } from '#kernel/tenant.js';
import { SimulatorDetail } from './simulator.dto.js';

/** API that lists the addresses of the email simulator. */
@Section('Emails', 'Emails that you send, one at a time or in batches, and their status for each recipient.')
@ResendErrors()
@Controller('v1/emails/simulator')
export class SimulatorController {
  constructor(private readonly config: Config) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'Get the addresses of the email simulator',
    description: 'Returns addresses that simulate delivery outcomes. They work in both environments.',
  })
  @ApiOkResponse({ type: SimulatorDetail, description: 'The addresses of the simulator.' })
  getSimulator(@CurrentTenant() tenant: Tenant): SimulatorDetail {
    const host = simulatorHost(this.config.platformDomain);
    return {
      host,
      addresses: SIMULATED_ROLES.map((role) => ({ role, address: `${role}@${host}` })),
      captured: tenant.mode === 'test' || this.config.emailTransport.kind === 'capture',
    };
  }
}

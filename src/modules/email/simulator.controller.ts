import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { SIMULATED_ROLES, simulatorHost } from '#engine/mail/simulator.js';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import { Config } from '#kernel/config.js';
import type { Tenant } from '#kernel/tenant.js';

/** An address that plays a recipient. */
export class SimulatedAddressItem {
  /** What it plays: its mail is delivered, bounces, is complained about, is suppressed, or is put off. */
  @ApiProperty({ enum: SIMULATED_ROLES, example: 'bounced' })
  role: (typeof SIMULATED_ROLES)[number];

  /** The address; `bounced+a-label@…` plays the same. */
  @ApiProperty({ example: 'bounced@simulator.posthorn.example' })
  address: string;
}

/** The simulator of this installation. */
export class SimulatorDetail {
  /** The host of its addresses. Any of them may be `from`, without a domain of your own. */
  @ApiProperty({ example: 'simulator.posthorn.example' })
  host: string;

  /** Addresses that play a recipient. Nothing is sent to them. */
  @ApiProperty({ type: [SimulatedAddressItem] })
  addresses: SimulatedAddressItem[];

  /** Whether mail to anybody else stays inside as well: in the test environment, and with the transport `capture:`, where it reaches the aliases of this installation. */
  @ApiProperty({ example: true })
  captured: boolean;
}

/** Where emails are tried out. */
@Section('Emails', 'Emails that are sent: single and in batches, and what became of each recipient.')
@Controller('v1/emails/simulator')
export class SimulatorController {
  constructor(private readonly config: Config) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'Get the simulator', description: 'Addresses to try out what becomes of an email, in both environments.' })
  @ApiOkResponse({ type: SimulatorDetail, description: 'The simulator.' })
  getSimulator(@CurrentTenant() tenant: Tenant): SimulatorDetail {
    const host = simulatorHost(this.config.platformDomain);
    return { host, addresses: SIMULATED_ROLES.map((role) => ({ role, address: `${role}@${host}` })), captured: tenant.mode === 'test' || this.config.emailTransport.kind === 'capture' };
  }
}

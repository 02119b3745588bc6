import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { RateLimit } from '#http/rate-limit.js';
import type { Tenant } from '#kernel/tenant.js';
import { SigningSecretItem } from './contract.dto.js';
import { DestinationSecrets } from './destination-secrets.js';
import { destinationId } from './destinations.dto.js';
import { Reachability } from './reachability.js';
import {
  CheckBody,
  CheckResult,
  DestinationSecretRotationBody,
  presentCheck,
  presentSecret,
  ValidationResult,
} from './settings.dto.js';
import { Validator } from './validator.js';

const ID = { name: 'id', description: 'Id of the destination.', example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const GRACE_SECONDS_DEFAULT = 86_400;

/** Checks the reachability of targets, and manages the secrets that sign their deliveries. */
@ApiTags('Destinations')
@Controller('v1/destinations')
export class DestinationChecksController {
  constructor(
    private readonly reachability: Reachability,
    private readonly validator: Validator,
    private readonly secrets: DestinationSecrets,
  ) {}

  @Post('check')
  @Audit('never')
  @RateLimit({ name: 'check', count: 300, seconds: 60 })
  @Scope('write')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Check a target',
    description: 'Checks whether the target is reachable. Nothing is stored.',
  })
  @ApiOkResponse({ type: CheckResult, description: 'Result of the reachability check.' })
  async checkTarget(@Body() { type, url, config, credentials }: CheckBody): Promise<CheckResult> {
    return presentCheck(
      await this.reachability.try({ type, url: url ?? null, config: config ?? {}, credentials: credentials ?? null }),
    );
  }

  @Post(':id/validate')
  @Audit()
  @RateLimit({ name: 'check', count: 300, seconds: 60 })
  @Scope('write')
  @HttpCode(200)
  @ApiOperation({ summary: 'Check a destination again' })
  @ApiParam(ID)
  @ApiOkResponse({ type: ValidationResult, description: 'Results of the individual checks.' })
  async validateDestination(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<ValidationResult> {
    return presentCheck(await this.validator.validate(tenant, destinationId(id)));
  }

  @Get(':id/secret')
  @Scope('write')
  @ApiOperation({
    summary: 'Get the signing secret of a destination',
    description: 'Returns the secret, and the public key if the destination signs with a key pair.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: SigningSecretItem, description: 'The current secret.' })
  async getDestinationSecret(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<SigningSecretItem> {
    return presentSecret(await this.secrets.show(tenant, destinationId(id)));
  }

  @Post(':id/secret/rotate')
  @Audit()
  @Scope('write')
  @HttpCode(200)
  @Idempotent()
  @ApiOperation({
    summary: 'Rotate the signing secret of a destination',
    description:
      'Rotates the secret, and the key pair if the destination has one. Deliveries are signed with both the old and the new secret until the grace period ends.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: SigningSecretItem, description: 'The new secret.' })
  async rotateDestinationSecret(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: DestinationSecretRotationBody,
  ): Promise<SigningSecretItem> {
    const graceMs = (body.grace_seconds ?? GRACE_SECONDS_DEFAULT) * 1000;
    return presentSecret(await this.secrets.rotate(tenant, destinationId(id), graceMs));
  }
}

import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiConflictResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import type { Tenant } from '#kernel/tenant.js';
import { APPLICATION, ENDPOINT } from '#modules/applications/contract.dto.js';
import { SigningSecretItem } from '#modules/destinations/contract.dto.js';
import type { ShownSecret } from '#modules/destinations/contract.js';
import { ApplicationEndpointChanges } from './application-endpoint-changes.js';
import { ApplicationEndpointRotationBody } from './application-endpoints.dto.js';
import { Applications } from './applications.js';

const GRACE_SECONDS_DEFAULT = 86_400;

/** Signing secrets of a customer's endpoint. */
@ApiTags('Applications')
@Controller('v1/app/:app/endpoints/:endpoint/secret')
export class EndpointSecretsController {
  constructor(
    private readonly applications: Applications,
    private readonly changes: ApplicationEndpointChanges,
  ) {}

  @Get()
  @Scope('write')
  @TakesPortalToken('secrets')
  @ApiOperation({
    summary: 'Get the signing secret of an endpoint',
    description:
      'Returns the secret, and the public key if the endpoint signs with a key pair. Returns 409 if the endpoint uses a destination.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: SigningSecretItem, description: 'The current secret.' })
  @ApiConflictResponse({
    description: 'The endpoint uses a destination, and the secret of the destination signs its deliveries.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  async getApplicationEndpointSecret(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
  ): Promise<SigningSecretItem> {
    return presentSecret(
      await this.changes.showSecret(
        tenant,
        await this.applications.endpoint(tenant.environmentId, application, endpoint),
      ),
    );
  }

  @Post('rotate')
  @Audit()
  @Scope('write')
  @TakesPortalToken('secrets')
  @HttpCode(200)
  @Idempotent()
  @ApiOperation({
    summary: 'Rotate the signing secret of an endpoint',
    description:
      'Rotates the secret, and the key pair if the endpoint has one. Deliveries are signed with both the old and the new secret until the grace period ends.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: SigningSecretItem, description: 'The new secret.' })
  async rotateApplicationEndpointSecret(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
    @Body() body: ApplicationEndpointRotationBody,
  ): Promise<SigningSecretItem> {
    const found = await this.applications.endpoint(tenant.environmentId, application, endpoint);
    return presentSecret(
      await this.changes.rotateSecret(tenant, found, (body.grace_seconds ?? GRACE_SECONDS_DEFAULT) * 1000),
    );
  }
}

function presentSecret({ secret, publicKey }: ShownSecret): SigningSecretItem {
  return { secret, public_key: publicKey };
}

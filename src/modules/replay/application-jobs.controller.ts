import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { TryAfter } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { APPLICATION } from '#modules/applications/contract.dto.js';
import { ApplicationJobs } from './application-jobs.js';
import {
  ApplicationReplayBody,
  EraseApplicationBody,
  EraseDryRunResult,
  presentEraseDryRun,
  RecoverBody,
} from './recover.dto.js';
import { presentJob, ReplayJobItem } from './replays.dto.js';

/** API for jobs over all events that were sent to an application. */
@ApiTags('Replay')
@Controller('v1/app/:app')
export class ApplicationJobsController {
  constructor(private readonly jobs: ApplicationJobs) {}

  @Post('recover')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Resend failed events of an application',
    description:
      'Starts a background job that resends every event of the time range whose delivery to an endpoint of the application ended as `failed` or `dlq`. Events for an endpoint that currently accepts no deliveries are counted as `skipped`. Returns 409 for an application without endpoints.',
  })
  @ApiParam(APPLICATION)
  @ApiAcceptedResponse({ type: ReplayJobItem, description: 'The job.' })
  async recoverApplication(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Body() body: RecoverBody,
  ): Promise<ReplayJobItem> {
    return presentJob(await this.jobs.recover(tenant, application, body));
  }

  @Post('replay')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Resend all events of an application',
    description:
      'Starts a background job that resends every event of the time range, whatever its state. Each event is sent only to its original endpoint. Events for an endpoint that currently accepts no deliveries are counted as `skipped`. Returns 409 for an application without endpoints.',
  })
  @ApiParam(APPLICATION)
  @ApiAcceptedResponse({ type: ReplayJobItem, description: 'The job.' })
  async replayApplication(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Body() body: ApplicationReplayBody,
  ): Promise<ReplayJobItem> {
    return presentJob(await this.jobs.replay(tenant, application, body));
  }

  @Post('erase')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Erase an application',
    description:
      'Starts a background job that permanently erases the application, its endpoints and their secrets. It also erases its waiting deliveries, the responses of its receivers, and the payload, header values and channels of every message that was sent to it. Ids, types, times and states are kept. The field `erased` of the job counts the erased items. A deleted application can be erased by its `app_` id. With `dry_run`, the response (200) contains only the counts, and nothing is erased.',
  })
  @ApiParam({ ...APPLICATION, example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiBody({ type: EraseApplicationBody, required: false })
  @ApiOkResponse({
    type: EraseDryRunResult,
    description: 'The numbers of items that an erasure would delete (`dry_run: true`).',
  })
  @ApiAcceptedResponse({ type: ReplayJobItem, description: 'The job.' })
  @TryAfter('Replay')
  async eraseApplication(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body?: EraseApplicationBody,
  ): Promise<ReplayJobItem | EraseDryRunResult> {
    if (body?.dry_run !== true) return presentJob(await this.jobs.erase(tenant, application));
    reply.code(200);
    return presentEraseDryRun(await this.jobs.eraseDryRun(tenant, application));
  }
}

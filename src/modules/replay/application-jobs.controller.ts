import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
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

/** Jobs over everything that an application was sent. */
@ApiTags('Replay')
@Controller('v1/app/:app')
export class ApplicationJobsController {
  constructor(private readonly jobs: ApplicationJobs) {}

  @Post('recover')
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Recover an application',
    description:
      'Sends again, as a job in the background, every event of the time whose delivery to an endpoint of the application ended `failed` or ' +
      '`dlq`. What is for an endpoint that takes no deliveries now is `skipped`. 409 for an application without endpoints.',
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
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay an application',
    description:
      'Sends everything of the time again, as a job in the background, whatever became of it: each event to the endpoint that it was for, and to no ' +
      'other one. What is for an endpoint that takes no deliveries now is `skipped`. 409 for an application without endpoints.',
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
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Erase an application',
    description:
      'Does away, as a job in the background, with the application, its endpoints and their secrets, with the payload, header values and ' +
      'channels of every message that it was sent, with what waits, and with what its receivers answered. Ids, types, times and states stay. `erased` of the job ' +
      'says what is gone. For good. An application that was deleted is erased by its `app_` id. With `dry_run` it counts at once (200) and erases nothing.',
  })
  @ApiParam({ ...APPLICATION, example: 'app_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiBody({ type: EraseApplicationBody, required: false })
  @ApiOkResponse({ type: EraseDryRunResult, description: 'What an erasure would delete (`dry_run: true`).' })
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

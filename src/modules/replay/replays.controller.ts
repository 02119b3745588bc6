import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { EventJobBody, EventJobDryRun, presentEventJobDryRun } from './event-jobs.dto.js';
import { EventJobs } from './event-jobs.js';
import { RangeReplay } from './range-replay.js';
import { Release } from './release.js';
import { ReplayJobs } from './replay-jobs.js';
import {
  DryRunResult,
  presentDryRun,
  presentJob,
  presentJobPage,
  presentReleaseDryRun,
  RangeReplayBody,
  ReleaseBody,
  ReleaseDryRunResult,
  ReplayJobItem,
  ReplayJobListQuery,
  ReplayJobPage,
} from './replays.dto.js';

const JOB = { name: 'id', description: 'Id of the replay job.', example: 'rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** API for jobs that process events by time range or filter, and for the list of all jobs. */
@ApiTags('Replay')
@Controller('v1')
export class ReplaysController {
  constructor(
    private readonly ranges: RangeReplay,
    private readonly jobs: ReplayJobs,
    private readonly releases: Release,
    private readonly eventJobs: EventJobs,
  ) {}

  @Post('endpoints/:id/replay')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay the events of an endpoint in a time range',
    description:
      'Starts a background job that sends the events that the endpoint received between `since` and `until` to the current destinations of its routes. With `dry_run`, the response (200) contains only the counts, and nothing is sent.',
  })
  @ApiParam({ name: 'id', description: 'Id of the endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiBody({ type: RangeReplayBody, required: false })
  @ApiOkResponse({ type: DryRunResult, description: 'The result of a dry run (`dry_run: true`).' })
  @ApiAcceptedResponse({ type: ReplayJobItem, description: 'The job.' })
  async replayRange(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body?: RangeReplayBody,
  ): Promise<ReplayJobItem | DryRunResult> {
    const endpointId = idOf('ep', id, 'endpoint');
    const { dry_run: isDry, ...query } = body ?? {};
    if (!isDry) return presentJob(await this.ranges.start(tenant, endpointId, query));
    reply.code(200);
    return presentDryRun(await this.ranges.dryRun(tenant, endpointId, query));
  }

  @Post('endpoints/:id/requests/replay')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Release quarantined, parked or dropped requests',
    description:
      'Starts a background job that processes the requests that the endpoint quarantined, parked or dropped between `since` and `until`, oldest first. Each is verified, transformed and routed as a new event, with the current settings of the endpoint. Requests that were already released are skipped. With `dry_run`, the response (200) contains only the counts.',
  })
  @ApiParam({ name: 'id', description: 'Id of the endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiOkResponse({ type: ReleaseDryRunResult, description: 'The result of a dry run (`dry_run: true`).' })
  @ApiAcceptedResponse({ type: ReplayJobItem, description: 'The job.' })
  async replayRequests(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ReleaseBody,
  ): Promise<ReplayJobItem | ReleaseDryRunResult> {
    const endpointId = idOf('ep', id, 'endpoint');
    const { dry_run: isDry, ...query } = body;
    if (!isDry) return presentJob(await this.releases.start(tenant, endpointId, query));
    reply.code(200);
    return presentReleaseDryRun(await this.releases.dryRun(tenant, endpointId, query));
  }

  @Post('replays')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay, recover or cancel events by filter',
    description:
      'Starts a background job that processes every event that `GET /v1/events` returns for the same filters, newest first. The job resumes after an interruption and processes nothing twice. Events accepted after the request are not included. With `dry_run`, the response (200) contains only the count. Returns 409 if the filter names a destination or an endpoint that is disabled (`details.reason: "disabled"`). Also returns 409 while another job for the same destination, endpoint, application or message is pending or running (`"replay_live"`, with the id of that job as `details.replay`). If the filter names none of these, only one such job per environment may be pending or running. If the filter names no target, disabled targets are skipped and counted.',
  })
  @ApiOkResponse({
    type: EventJobDryRun,
    description: 'The number of events that the job would examine (`dry_run: true`).',
  })
  @ApiAcceptedResponse({ type: ReplayJobItem, description: 'The job.' })
  async replayEvents(
    @CurrentTenant() tenant: Tenant,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { dry_run: isDry, ...query }: EventJobBody,
  ): Promise<ReplayJobItem | EventJobDryRun> {
    if (!isDry) return presentJob(await this.eventJobs.start(tenant, query));
    reply.code(200);
    return presentEventJobDryRun(query.action, await this.eventJobs.dryRun(tenant, query));
  }

  @Get('replays')
  @Scope('read')
  @ApiOperation({ summary: 'List replay jobs', description: 'Returns the newest items first.' })
  @ApiOkResponse({ type: ReplayJobPage, description: 'One page of jobs.' })
  async listReplays(@CurrentTenant() tenant: Tenant, @Query() query: ReplayJobListQuery): Promise<ReplayJobPage> {
    return presentJobPage(await this.jobs.list(tenant, query));
  }

  @Get('replays/:id')
  @Scope('read')
  @ApiOperation({ summary: 'Get a replay job', description: 'Returns the job with its progress.' })
  @ApiParam(JOB)
  @ApiOkResponse({ type: ReplayJobItem, description: 'The job.' })
  async getReplay(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<ReplayJobItem> {
    return presentJob(await this.jobs.find(tenant, idOf('rpj', id, 'replay job')));
  }

  @Post('replays/:id/stop')
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Stop a replay job',
    description:
      'The job stops after the batch of events that it is processing. Deliveries that it has already created are still made. A job that has not started stops immediately.',
  })
  @ApiParam(JOB)
  @ApiOkResponse({ type: ReplayJobItem, description: 'The job with `stop_requested`.' })
  async stopReplay(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<ReplayJobItem> {
    return presentJob(await this.jobs.stop(tenant, idOf('rpj', id, 'replay job')));
  }
}

function idOf(prefix: 'ep' | 'rpj', text: string, what: string): Id {
  const id = parseId(prefix, text);
  if (id === null) throw noSuch(what);
  return id;
}

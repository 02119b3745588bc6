import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { Idempotent } from '#http/idempotent.js';
import { notFound } from '#kernel/errors.js';
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

const JOB = { name: 'id', description: 'The replay job.', example: 'rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** Replays of a time range and by filter, and all jobs. */
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
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay a time range',
    description:
      'Sends what the endpoint received between `since` and `until` to the destinations that its routes target now, as a job in the ' +
      'background. With `dry_run` it counts at once (200) and sends nothing.',
  })
  @ApiParam({ name: 'id', description: 'The endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiBody({ type: RangeReplayBody, required: false })
  @ApiOkResponse({ type: DryRunResult, description: 'What a replay would do (`dry_run: true`).' })
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
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Release what was set aside',
    description:
      'Runs the requests that the endpoint quarantined or parked between `since` and `until` through it as it is set now, as a job in the ' +
      'background: oldest first, each verified, transformed and routed, as a new event. What is released once is not released again. With `dry_run` it counts at once (200).',
  })
  @ApiParam({ name: 'id', description: 'The endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiOkResponse({ type: ReleaseDryRunResult, description: 'What a release would look at (`dry_run: true`).' })
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
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay, recover or cancel by filter',
    description:
      'Does it with every event that `GET /v1/events` shows with the same filters, newest first, as a job in the background that goes on after an ' +
      'interruption and does nothing twice. What is accepted after the call is none of its. With `dry_run` it counts at once (200). 409 for a filter that names a ' +
      'destination or an endpoint that is disabled (`details.reason: "disabled"`), and while another such job about the same destination, endpoint, application or message, ' +
      'or with none of them about the environment, is live (`"replay_live"`, with its id as `details.replay`). Under a wider filter what is disabled is passed by and counted.',
  })
  @ApiOkResponse({ type: EventJobDryRun, description: 'How many events it would look at (`dry_run: true`).' })
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
  @ApiOperation({ summary: 'List replay jobs', description: 'Newest first.' })
  @ApiOkResponse({ type: ReplayJobPage, description: 'One page of jobs.' })
  async listReplays(@CurrentTenant() tenant: Tenant, @Query() query: ReplayJobListQuery): Promise<ReplayJobPage> {
    return presentJobPage(await this.jobs.list(tenant, query));
  }

  @Get('replays/:id')
  @Scope('read')
  @ApiOperation({ summary: 'Get a replay job', description: 'With how far it has come.' })
  @ApiParam(JOB)
  @ApiOkResponse({ type: ReplayJobItem, description: 'The job.' })
  async getReplay(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<ReplayJobItem> {
    return presentJob(await this.jobs.find(tenant, idOf('rpj', id, 'replay job')));
  }

  @Post('replays/:id/stop')
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Stop a replay job',
    description:
      'It stops between two pages; what is enqueued is still delivered. A job that has not started stops at once.',
  })
  @ApiParam(JOB)
  @ApiOkResponse({ type: ReplayJobItem, description: 'The job with `stop_requested`.' })
  async stopReplay(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<ReplayJobItem> {
    return presentJob(await this.jobs.stop(tenant, idOf('rpj', id, 'replay job')));
  }
}

function idOf(prefix: 'ep' | 'rpj', text: string, what: string): Id {
  const id = parseId(prefix, text);
  if (id === null) throw notFound(what);
  return id;
}

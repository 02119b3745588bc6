import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, readTool, writeTool } from '#modules/agents/contract.js';
import { cursor, id, idempotencyKey, limit, since, until } from '#modules/agents/tool-arguments.contract.js';

const ENDPOINT = 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

@Injectable()
export class ReplayTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'list_replay_jobs',
      title: 'List replay jobs',
      description: 'Replay jobs with their state and progress.',
      input: z.object({
        endpoint: z.string().max(64).optional().describe('`ep_…`.'),
        state: z.enum(['pending', 'running', 'completed', 'stopped', 'failed']).optional().describe('How it stands.'),
        cursor,
        limit,
      }),
      example: { state: 'running' },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/replays`, args) }),
    }),
    readTool({
      name: 'get_replay_job',
      title: 'Get a replay job',
      description: 'One replay job: state, and events sent, excluded, skipped.',
      input: z.object({ job_id: id('rpj') }),
      example: { job_id: 'rpj_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      run: async (api, { job_id: job }) => ({ content: await api.get(apiPath`/v1/replays/${job}`) }),
    }),
    writeTool({
      name: 'replay_event',
      title: 'Replay an event',
      description: 'Sends one event again, same webhook-id and body, delivered or not. Receivers may dedupe by id.',
      input: z.object({
        event_id: z.string().min(1).max(200).describe('`evt_…` or `msg_…`.'),
        destinations: z.array(z.string().max(64)).min(1).optional().describe('Only to these: `dst_…`.'),
        idempotency_key: idempotencyKey,
      }),
      example: { event_id: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      isDestructive: false,
      isIdempotent: false,
      run: async (api, { event_id: event, idempotency_key: key, ...body }) => ({
        content: await api.post(apiPath`/v1/events/${event}/replay`, body, key),
      }),
    }),
    writeTool({
      name: 'redrive_dead_letters',
      title: 'Redrive dead letters',
      description:
        'Sends dead letters again: all, of one destination or endpoint, or since a time. First find out why they failed (search_events, status dlq). For status failed: replay_event.',
      input: z.object({
        endpoint: z.string().max(200).optional().describe('`dst_…` or `ep_…`.'),
        since,
        idempotency_key: idempotencyKey,
      }),
      example: { endpoint: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      isDestructive: false,
      isIdempotent: false,
      run: async (api, { idempotency_key: key, ...body }) => ({
        content: await api.post(apiPath`/v1/dlq/redrive`, body, key),
      }),
    }),
    writeTool({
      name: 'replay_endpoint',
      title: 'Replay an endpoint',
      description:
        'Resends events of an endpoint from a time range to its current routes, delivered ones too. Only counts unless `dry_run` is false: count first. A job (get_replay_job), one per endpoint.',
      input: z.object({
        endpoint_id: id('ep'),
        since,
        until,
        status: z.enum(['delivered', 'failed', 'retrying', 'dlq']).optional().describe('Only these.'),
        destinations: z.array(z.string().max(200)).min(1).max(100).optional().describe('Only to these: `dst_…`.'),
        dry_run: z.boolean().default(true).describe('Only count.'),
        idempotency_key: idempotencyKey,
      }),
      example: { endpoint_id: ENDPOINT, since: '2026-11-20T00:00:00Z', dry_run: true },
      isDestructive: false,
      isIdempotent: false,
      run: async (api, { endpoint_id: endpoint, idempotency_key: key, ...body }) => ({
        content: await api.post(apiPath`/v1/endpoints/${endpoint}/replay`, body, key),
      }),
    }),
  ];
}

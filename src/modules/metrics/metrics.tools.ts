import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { badRequest } from '#kernel/errors.js';
import { AgentTools, apiPath, readTool } from '#modules/agents/contract.js';
import { since, until } from '#modules/agents/tool-arguments.contract.js';

/** Range of the overview of the environment for each length of a window. */
const OVERVIEW_RANGES = { '1m': '1h', '1h': '24h', '1d': '30d' } as const;

@Injectable()
export class MetricTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'get_metrics',
      title: 'Get metrics',
      description:
        "Counts, success rate, latency. Without key, since, until: the environment's last hour, day, 30 days.",
      input: z.object({
        key: z.string().min(1).max(256).optional().describe('`ep_…`, `dst_…`, `app_…`.'),
        window: z.enum(['1m', '1h', '1d']).default('1h').describe('Size.'),
        since,
        until,
      }),
      example: { key: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', window: '1d' },
      run: async (api, args) => {
        if (args.key !== undefined) return { content: await api.get(apiPath`/v1/metrics`, args) };
        if (args.since !== undefined || args.until !== undefined)
          throw badRequest(
            'Without a key, the range is the last hour, 24 hours or 30 days: leave out since and until.',
          );
        return { content: await api.get(apiPath`/v1/metrics/overview`, { range: OVERVIEW_RANGES[args.window] }) };
      },
    }),
  ];
}

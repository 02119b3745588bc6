import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, readTool } from '#modules/agents/contract.js';
import { cursor, id, limit } from '#modules/agents/tool-arguments.contract.js';

const ENDPOINT = 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

@Injectable()
export class EndpointTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'list_endpoints',
      title: 'List endpoints',
      description: 'URLs that providers call, with preset, destinations and verification.',
      input: z.object({
        status: z.enum(['active', 'paused', 'disabled']).optional().describe('`paused`: it parks.'),
        preset: z.string().max(64).optional().describe('`stripe`, `github`, …'),
        cursor,
        limit,
      }),
      example: { preset: 'stripe' },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/endpoints`, args) }),
    }),
    readTool({
      name: 'get_endpoint',
      title: 'Get an endpoint',
      description: 'One endpoint: routes, filters, verification, transform, responses. Its requests: list_requests.',
      input: z.object({ endpoint_id: id('ep') }),
      example: { endpoint_id: ENDPOINT },
      run: async (api, { endpoint_id: endpoint }) => ({ content: await api.get(apiPath`/v1/endpoints/${endpoint}`) }),
    }),
  ];
}

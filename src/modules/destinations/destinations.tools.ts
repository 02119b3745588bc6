import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, readTool } from '#modules/agents/contract.js';
import { cursor, id, limit } from '#modules/agents/tool-arguments.contract.js';

const DESTINATION = 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

@Injectable()
export class DestinationTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'list_destinations',
      title: 'List destinations',
      description: 'Lists destinations: name, type, URL, last check, status.',
      input: z.object({
        type: z.string().max(64).optional().describe('`https`, `sqs`, `pull`, …'),
        validation: z.enum(['valid', 'stale', 'invalid']).optional().describe('Result of last check.'),
        cursor,
        limit,
      }),
      example: { validation: 'invalid' },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/destinations`, args) }),
    }),
    readTool({
      name: 'get_destination',
      title: 'Get a destination',
      description:
        'One destination with settings, retries and circuit. `circuit.state` `open`: only probes are sent until one succeeds.',
      input: z.object({ destination_id: id('dst') }),
      example: { destination_id: DESTINATION },
      run: async (api, { destination_id: destination }) => ({
        content: await api.get(apiPath`/v1/destinations/${destination}`),
      }),
    }),
  ];
}

import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, readTool } from '#modules/agents/contract.js';

@Injectable()
export class AttentionTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'get_attention',
      title: 'Get attention',
      description: 'Current problems with their start. Check first.',
      input: z.object({}),
      example: {},
      run: async (api) => ({
        content: await api.get(apiPath`/v1/attention`),
        untrusted: ['data[].name', 'data[].sentence'],
      }),
    }),
  ];
}

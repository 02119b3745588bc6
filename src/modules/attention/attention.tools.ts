import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, readTool } from '#modules/agents/contract.js';

/** What is broken, for agents. */
@Injectable()
export class AttentionTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'get_attention',
      title: 'Get attention',
      description: 'What is broken now, since when. Look here first.',
      input: z.object({}),
      example: {},
      run: async (api) => ({
        content: await api.get(apiPath`/v1/attention`),
        untrusted: ['data[].name', 'data[].sentence'],
      }),
    }),
  ];
}

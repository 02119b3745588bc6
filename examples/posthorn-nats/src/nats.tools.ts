import { Injectable } from '@nestjs/common';
import { AgentTools, apiPath, readTool, z } from 'posthorn';

/** Tools for agents that query NATS counts. */
@Injectable()
export class NatsTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'list_nats_subjects',
      title: 'List NATS subjects',
      description: 'Counts of messages published to NATS per subject and hour for the last 30 days, newest first.',
      input: z.object({
        cursor: z.string().max(1024).optional().describe('Start of the page: the `next_cursor` of the previous page.'),
        limit: z.number().int().min(1).max(100).default(20).describe('Maximum number of items to return.'),
      }),
      example: { limit: 20 },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/nats/subjects`, args) }),
    }),
  ];
}

import { Injectable } from '@nestjs/common';
import { AgentTools, apiPath, readTool, z } from 'posthorn';

/** What agents may ask about NATS. */
@Injectable()
export class NatsTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'list_nats_subjects',
      title: 'List NATS subjects',
      description: 'Messages that were published to NATS, by subject and hour of the last 30 days, newest first.',
      input: z.object({
        cursor: z.string().max(1024).optional().describe('Where to go on: `next_cursor` of the page before.'),
        limit: z.number().int().min(1).max(100).default(20).describe('How many to return.'),
      }),
      example: { limit: 20 },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/nats/subjects`, args) }),
    }),
  ];
}

import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, readTool } from '#modules/agents/contract.js';
import { cursor, id, limit, since, until } from '#modules/agents/tool-arguments.contract.js';

const application = z.string().min(1).max(256).describe('`app_…`, or your own uid.');

@Injectable()
export class ApplicationTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'list_applications',
      title: 'List applications',
      description: 'Your customers, each with its own endpoints.',
      input: z.object({ cursor, limit }),
      example: { limit: 20 },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/app`, args) }),
    }),
    readTool({
      name: 'get_application',
      title: 'Get an application',
      description: 'One application and its endpoints, with subscriptions.',
      input: z.object({ application, cursor, limit }),
      example: { application: 'customer-42' },
      run: async (api, { application: app, ...query }) => {
        const [found, endpoints] = [
          await api.get(apiPath`/v1/app/${app}`),
          await api.page(apiPath`/v1/app/${app}/endpoints`, query),
        ];
        return { content: { ...found, endpoints: endpoints['data'], next_cursor: endpoints['next_cursor'] } };
      },
    }),
    readTool({
      name: 'list_application_messages',
      title: 'List application messages',
      description: 'Messages sent to an application. Their events: search_events with `message_id`.',
      input: z.object({ application, cursor, limit }),
      example: { application: 'customer-42' },
      run: async (api, { application, ...query }) => ({
        content: await api.page(apiPath`/v1/app/${application}/messages`, query),
      }),
    }),
    readTool({
      name: 'list_endpoint_attempts',
      title: 'List endpoint attempts',
      description: 'Attempts at one endpoint of an application.',
      input: z.object({ application, endpoint: id('ep'), since, until, cursor, limit }),
      example: { application: 'customer-42', endpoint: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      run: async (api, { application, endpoint, ...query }) => ({
        content: await api.page(apiPath`/v1/app/${application}/endpoints/${endpoint}/attempts`, query),
        untrusted: ['data[].response_excerpt'],
      }),
    }),
  ];
}

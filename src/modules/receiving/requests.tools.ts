import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { partOf } from '#modules/agents/answer-size.contract.js';
import { AgentTools, apiPath, readTool } from '#modules/agents/contract.js';
import { cursor, id, limit, since, until } from '#modules/agents/tool-arguments.contract.js';

const ENDPOINT = 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const BODY_PAGE = 4_000;

@Injectable()
export class RequestTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'list_requests',
      title: 'List requests',
      description:
        'Raw requests. `quarantined`: invalid signature. `parked`: paused or transform failed. `ignored`: no route or dropped. See `note`.',
      input: z.object({
        endpoint_id: id('ep'),
        status: z
          .enum(['routed', 'quarantined', 'parked', 'ignored', 'duplicate', 'too_large'])
          .optional()
          .describe('Its status.'),
        method: z
          .string()
          .regex(/^[A-Z-]{1,32}$/)
          .optional()
          .describe('As in `POST`.'),
        since,
        until,
        cursor,
        limit,
      }),
      example: { endpoint_id: ENDPOINT, status: 'quarantined' },
      run: async (api, { endpoint_id: endpoint, ...query }) => ({
        content: await api.page(apiPath`/v1/endpoints/${endpoint}/requests`, query),
        untrusted: ['data[].path', 'data[].dedupe_id'],
      }),
    }),
    readTool({
      name: 'get_request',
      title: 'Get a request',
      description: `One received request: URL, headers, body (${BODY_PAGE} characters at a time), response.`,
      input: z.object({
        endpoint_id: id('ep'),
        request_id: z.string().min(1).max(200).describe('`req_…` or `evt_…`.'),
        body_offset: z.number().int().min(0).default(0).describe('A `body_next_offset`.'),
      }),
      example: { endpoint_id: ENDPOINT, request_id: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      run: async (api, { endpoint_id: endpoint, request_id: request, body_offset: offset }) => {
        // An AI model reads this result, including a body that third parties wrote. Credentials are therefore hidden,
        // even for keys of scope `write`.
        const { body, ...rest } = await api.get(apiPath`/v1/endpoints/${endpoint}/requests/${request}`, {
          hide_secrets: true,
        });
        const { text, nextOffset } = partOf(String(body), offset, BODY_PAGE);
        return {
          content: { ...rest, body: text, body_next_offset: nextOffset },
          untrusted: ['url', 'query', 'headers', 'body', 'note', 'logs'],
        };
      },
    }),
  ];
}

import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, writeTool } from '#modules/agents/contract.js';
import { id, idempotencyKey } from '#modules/agents/tool-arguments.contract.js';

@Injectable()
export class SendTools extends AgentTools {
  override readonly tools = [
    writeTool({
      name: 'send_webhook',
      title: 'Send a webhook',
      description:
        'Sends one event, signed, retried for 28 hours. Follow its `message_id` with wait_for_event or get_event.',
      input: z.object({
        destination: z.string().min(1).max(2048).describe('`dst_…`, or an HTTPS URL.'),
        event_type: z.string().min(1).max(256).describe('As in `invoice.paid`.'),
        payload: z.record(z.string(), z.unknown()).describe('A JSON object, not a string.'),
        headers: z.record(z.string(), z.string()).optional().describe('To send along.'),
        idempotency_key: idempotencyKey,
      }),
      example: { destination: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', event_type: 'invoice.paid', payload: { amount: 4200 } },
      isDestructive: true,
      isIdempotent: false,
      run: async (api, { idempotency_key: key, ...body }) => ({
        content: await api.post(apiPath`/v1/send`, body, key),
      }),
    }),
    writeTool({
      name: 'test_destination',
      title: 'Test a destination',
      description:
        'Sends a `posthorn.test` event and returns its attempt: null if a circuit or rate limit held it for 20 s.',
      input: z.object({ destination_id: id('dst'), idempotency_key: idempotencyKey }),
      example: { destination_id: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      isDestructive: false,
      isIdempotent: false,
      run: async (api, { destination_id: destination, idempotency_key: key }) => ({
        content: await api.post(apiPath`/v1/destinations/${destination}/test`, undefined, key),
        untrusted: ['attempt.response_excerpt'],
      }),
    }),
  ];
}

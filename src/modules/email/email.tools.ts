import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, readTool, writeTool } from '#modules/agents/contract.js';
import { cursor, idempotencyKey, limit, since, until } from '#modules/agents/tool-arguments.contract.js';

const addresses = (what: string): z.ZodArray<z.ZodString> =>
  z.array(z.string().max(1024)).min(1).max(50).describe(what);

@Injectable()
export class EmailTools extends AgentTools {
  override readonly tools = [
    readTool({
      name: 'list_emails',
      title: 'List emails',
      description: 'Sent emails. `status`: the worst among recipients.',
      input: z.object({
        status: z
          .enum(['sending', 'delivered', 'bounced', 'complained', 'suppressed', 'failed', 'dlq'])
          .optional()
          .describe('How they stand.'),
        since,
        until,
        cursor,
        limit,
      }),
      example: { status: 'bounced' },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/emails`, args) }),
    }),
    readTool({
      name: 'get_email',
      title: 'Get an email',
      description: 'One email: recipients, timeline, attempts and server replies.',
      input: z.object({ email_id: z.string().min(1).max(64).describe('`evt_…`.') }),
      example: { email_id: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      run: async (api, { email_id: email }) => ({
        content: await api.get(apiPath`/v1/emails/${email}`, { content: 'false' }),
        untrusted: ['recipients[].detail', 'attempts[]'],
      }),
    }),
    readTool({
      name: 'list_suppressions',
      title: 'List suppressions',
      description: 'Addresses that get no mail: bounced, complained, or added.',
      input: z.object({ cursor, limit }),
      example: { limit: 20 },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/suppressions`, args) }),
    }),
    writeTool({
      name: 'send_email',
      title: 'Send an email',
      description:
        'Sends one email; a live key really sends: ask your user first. `from` needs a verified domain. Give html, text or both.',
      input: z.object({
        from: z.string().max(1024).describe('`Shop <shop@example.com>`'),
        to: addresses('Recipients.'),
        cc: addresses('Copies.').optional(),
        bcc: addresses('Hidden copies.').optional(),
        reply_to: addresses('Where answers go.').optional(),
        subject: z.string().max(998).describe('The subject.'),
        text: z.string().max(200_000).optional().describe('Plain text.'),
        html: z.string().max(200_000).optional().describe('HTML.'),
        idempotency_key: idempotencyKey,
      }),
      example: {
        from: 'Shop <shop@example.com>',
        to: ['customer@example.org'],
        subject: 'Your order',
        text: 'It is on its way.',
      },
      isDestructive: true,
      isIdempotent: false,
      run: async (api, { idempotency_key: key, ...body }) => ({
        content: await api.post(apiPath`/v1/emails`, body, key),
      }),
    }),
  ];
}

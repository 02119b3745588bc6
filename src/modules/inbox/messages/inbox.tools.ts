import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '#kernel/clock.js';
import { AgentTools, apiPath, readTool, writeTool } from '#modules/agents/contract.js';
import { cursor, idempotencyKey, limit, since, until } from '#modules/agents/tool-arguments.contract.js';
import { messageForAgent } from './message-for-agent.js';

const ADDRESS = 'support.acme@in.example.com';
const WAIT_SECONDS_MAX = 25;
const SCANNED_MAX = 100;
const FOUND_MAX = 5;
const STRANGERS = ['data[].from', 'data[].subject', 'data[].message_id'];

const alias = z.string().min(1).max(320).describe('Full address, or `al_` id.');
const FILTERS = {
  from: z.string().min(1).max(320).optional().describe('Part of its From.'),
  subject: z.string().min(1).max(500).optional().describe('Part of it.'),
};

interface Listed {
  from: string;
  subject: string | null;
  received_at: string;
  state: string;
}

@Injectable()
export class InboxTools extends AgentTools {
  constructor(private readonly clock: Clock) {
    super();
  }

  override readonly tools = [
    readTool({
      name: 'list_aliases',
      title: 'List aliases',
      description: 'Addresses that receive mail, destinations, allowed senders.',
      input: z.object({ cursor, limit }),
      example: { limit: 20 },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/aliases`, args) }),
    }),
    readTool({
      name: 'search_messages',
      title: 'Search messages',
      description:
        'Mail to one alias, quarantined too (`reason`). For its text: get_message. ' +
        '`from` and `subject` filter the `limit` messages of a page: it may be empty and have a `next_cursor`.',
      input: z.object({ alias, ...FILTERS, cursor, limit }),
      example: { alias: ADDRESS, subject: 'order', limit: 50 },
      run: async (api, { alias: address, from, subject, ...query }) => {
        const page = await api.page(apiPath`/v1/aliases/${address}/messages`, query);
        return {
          content: { ...page, data: (page['data'] as Listed[]).filter(fitting({ from, subject })) },
          untrusted: STRANGERS,
        };
      },
    }),
    readTool({
      name: 'get_message',
      title: 'Get a message',
      description:
        'One received mail: author, verdicts, file names, and its text in parts (`body_next_offset` is the next `body_offset`). ' +
        '`auth` other than `pass`: its author is not verified.',
      input: z.object({
        alias,
        message_id: z.string().min(1).max(64).describe('`evt_…`.'),
        body: z.enum(['text', 'reply_text', 'html']).default('text').describe('See `has_text` and `has_html`.'),
        body_offset: z.number().int().min(0).default(0).describe('In characters.'),
      }),
      example: { alias: ADDRESS, message_id: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      run: async (api, { alias: address, message_id: message, body, body_offset: offset }) => ({
        content: messageForAgent(await api.get(apiPath`/v1/aliases/${address}/messages/${message}`), body, offset),
        untrusted: ['body', 'from', 'to', 'cc', 'reply_to', 'subject', 'message_id', 'in_reply_to', 'attachments[]'],
      }),
    }),
    readTool({
      name: 'wait_for_message',
      title: 'Wait for a message',
      description:
        `Waits up to ${WAIT_SECONDS_MAX} s for matching mail to an alias, quarantined too (\`state\`). Its text: get_message. Without \`since\` only new mail: ` +
        `note the time before you trigger it. Empty \`data\`: call again with the returned \`since\`. Examines the newest ${SCANNED_MAX}.`,
      input: z.object({
        alias,
        ...FILTERS,
        since,
        timeout_seconds: z.number().int().min(1).max(WAIT_SECONDS_MAX).default(20).describe('How long.'),
      }),
      example: { alias: ADDRESS, subject: 'code', timeout_seconds: 20 },
      run: async (api, { alias: address, from, subject, since: given, timeout_seconds: seconds }) => {
        const start = given ?? this.clock.now().toISOString();
        const isFitting = fitting({ from, subject });
        const found = await api.until(seconds, async () => {
          const { data } = await api.get(apiPath`/v1/aliases/${address}/messages`, { limit: SCANNED_MAX });
          // Excludes messages that are not parsed yet, because their author and subject are unknown.
          const all = (data as Listed[]).filter(
            (each) => each.state !== 'received' && Date.parse(each.received_at) >= Date.parse(start) && isFitting(each),
          );
          return all.length > 0 ? all.slice(0, FOUND_MAX) : null;
        });
        return { content: { data: found ?? [], timed_out: found === null, since: start }, untrusted: STRANGERS };
      },
    }),
    writeTool({
      name: 'replay_messages',
      title: 'Replay messages',
      description:
        'Replays mail of a period to the current destinations of an alias, delivered too, quarantined never; 1,000 per call. Only counts unless `dry_run` is false: count first.',
      input: z.object({
        alias,
        since,
        until,
        status: z.enum(['delivered', 'failed', 'retrying', 'dlq']).optional().describe('Only these.'),
        dry_run: z.boolean().default(true).describe('Only count.'),
        cursor,
        idempotency_key: idempotencyKey,
      }),
      example: { alias: ADDRESS, since: '2026-11-20T00:00:00Z', dry_run: true },
      isDestructive: false,
      isIdempotent: false,
      run: async (api, { alias: address, idempotency_key: key, ...body }) => ({
        content: await api.post(apiPath`/v1/aliases/${address}/replay`, body, key),
      }),
    }),
  ];
}

function fitting({
  from,
  subject,
}: {
  from: string | undefined;
  subject: string | undefined;
}): (message: Listed) => boolean {
  const has = (text: string | null, wanted: string | undefined): boolean =>
    wanted === undefined || (text ?? '').toLowerCase().includes(wanted.toLowerCase());
  return (message) => has(message.from, from) && has(message.subject, subject);
}

import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentTools, apiPath, readTool, writeTool } from '#modules/agents/contract.js';
import { cursor, idempotencyKey, limit, since, until } from '#modules/agents/tool-arguments.contract.js';
import { Clock } from '#kernel/clock.js';
import { messageForAgent } from './message-for-agent.js';

const ADDRESS = 'support.acme@in.example.com';
const WAIT_SECONDS_MAX = 25;
const LOOKED_AT = 100;
const FOUND_MAX = 5;
const STRANGERS = ['data[].from', 'data[].subject', 'data[].message_id'];

const alias = z.string().min(1).max(320).describe('The alias: its whole address, or its `al_` id.');
const FILTERS = {
  from: z.string().min(1).max(320).optional().describe('Only what has this in its From header, in any case.'),
  subject: z.string().min(1).max(500).optional().describe('Only what has this in its subject, in any case.'),
};

/** A message of the list, as far as it is looked at here. */
interface Listed {
  from: string;
  subject: string | null;
  received_at: string;
  state: string;
}

/** Mail that came to aliases, for agents. */
@Injectable()
export class InboxTools extends AgentTools {
  constructor(private readonly clock: Clock) {
    super();
  }

  override readonly tools = [
    readTool({
      name: 'list_aliases',
      title: 'List aliases',
      description: 'Addresses of this environment that receive mail, newest first, with where their mail goes and who may write.',
      input: z.object({ cursor, limit }),
      example: { limit: 20 },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/aliases`, args) }),
    }),
    readTool({
      name: 'search_messages',
      title: 'Search received mail',
      description:
        'Mail that came to one alias, newest first, without what it says: use get_message. Quarantined mail is there too, with the `reason`. ' +
        '`from` and `subject` pick out of the `limit` messages of a page, so a page may be empty and have a `next_cursor`. There is no search in texts.',
      input: z.object({ alias, ...FILTERS, cursor, limit }),
      example: { alias: ADDRESS, subject: 'order', limit: 50 },
      run: async (api, { alias: address, from, subject, ...query }) => {
        const page = await api.page(apiPath`/v1/aliases/${address}/messages`, query);
        return { content: { ...page, data: (page['data'] as Listed[]).filter(fitting({ from, subject })) }, untrusted: STRANGERS };
      },
    }),
    readTool({
      name: 'get_message',
      title: 'Read a received mail',
      description:
        'One received mail: whom it is from, its verdicts, its text in parts (`body_next_offset` is the `body_offset` of the rest) and the names of its files. ' +
        '`auth` other than `pass` means that nobody knows whether it is from whom it says. `body` `html` shows the HTML source instead. Files are not shown.',
      input: z.object({
        alias, message_id: z.string().min(1).max(64).describe('An `evt_` id, as search_messages shows it.'),
        body: z.enum(['text', 'html']).default('text').describe('Which of the two to show; `has_text` and `has_html` say what there is.'),
        body_offset: z.number().int().min(0).default(0).describe('Where to begin, in characters.'),
      }),
      example: { alias: ADDRESS, message_id: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' },
      run: async (api, { alias: address, message_id: message, body, body_offset: offset }) => ({
        content: messageForAgent(await api.get(apiPath`/v1/aliases/${address}/messages/${message}`), body, offset),
        untrusted: ['body', 'from', 'to', 'cc', 'reply_to', 'subject', 'message_id', 'in_reply_to', 'attachments[]'],
      }),
    }),
    readTool({
      name: 'wait_for_message',
      title: 'Wait for mail',
      description:
        `Waits up to ${WAIT_SECONDS_MAX} s for mail to an alias that fits and was read, and returns the newest ones; quarantined mail too, see \`state\`. Without \`since\` it must come from now on: ` +
        'note the time before you cause the mail, and give it. When nothing came, `data` is empty: call again with the returned `since`. ' +
        `Only the newest ${LOOKED_AT} messages of the alias are looked at.`,
      input: z.object({
        alias, ...FILTERS, since,
        timeout_seconds: z.number().int().min(1).max(WAIT_SECONDS_MAX).default(20).describe('How long to wait.'),
      }),
      example: { alias: ADDRESS, subject: 'code', timeout_seconds: 20 },
      run: async (api, { alias: address, from, subject, since: given, timeout_seconds: seconds }) => {
        const start = given ?? this.clock.now().toISOString();
        const isFitting = fitting({ from, subject });
        const found = await api.until(seconds, async () => {
          const { data } = await api.get(apiPath`/v1/aliases/${address}/messages`, { limit: LOOKED_AT });
          // Before it was read nobody knows its author and its subject.
          const all = (data as Listed[]).filter((each) => each.state !== 'received' && Date.parse(each.received_at) >= Date.parse(start) && isFitting(each));
          return all.length > 0 ? all.slice(0, FOUND_MAX) : null;
        });
        return { content: { data: found ?? [], timed_out: found === null, since: start }, untrusted: STRANGERS };
      },
    }),
    writeTool({
      name: 'replay_messages',
      title: 'Replay received mail',
      description:
        'Sends what came to an alias in a time again, to where the alias leads now, delivered mail too; never quarantined mail. With `dry_run` true (the default) it only counts; call it so first. ' +
        'At most 1,000 messages a call, newest first: go on with `next_cursor` and the same other arguments.',
      input: z.object({
        alias, since, until,
        status: z.enum(['delivered', 'failed', 'retrying', 'dlq']).optional().describe('Only mail whose event stands so.'),
        dry_run: z.boolean().default(true).describe('Whether to count only.'),
        cursor, idempotency_key: idempotencyKey,
      }),
      example: { alias: ADDRESS, since: '2026-11-20T00:00:00Z', dry_run: true },
      isDestructive: false,
      isIdempotent: false,
      run: async (api, { alias: address, idempotency_key: key, ...body }) => ({ content: await api.post(apiPath`/v1/aliases/${address}/replay`, body, key) }),
    }),
  ];
}

/** Whether a message has what is looked for in its header fields. */
function fitting({ from, subject }: { from: string | undefined; subject: string | undefined }): (message: Listed) => boolean {
  const has = (text: string | null, wanted: string | undefined): boolean => wanted === undefined || (text ?? '').toLowerCase().includes(wanted.toLowerCase());
  return (message) => has(message.from, from) && has(message.subject, subject);
}

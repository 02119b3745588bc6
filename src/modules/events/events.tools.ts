import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '#kernel/clock.js';
import { AgentTools, type ApiObject, apiPath, readTool } from '#modules/agents/contract.js';
import { cursor, limit, since, until } from '#modules/agents/tool-arguments.contract.js';

const STATUSES = ['delivered', 'failed', 'retrying', 'dlq'] as const;
const EVENT = 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const WAIT_SECONDS_MAX = 25;
const PAYLOAD_CHARACTERS = 2_000;
const PAYLOAD_PAGE = 6_000;
const ATTEMPTS_SHOWN = 10;

const eventId = z.string().min(1).max(200).describe('`evt_…` or `msg_…`.');

const FILTERS = {
  status: z.enum(STATUSES).optional().describe('`failed`: permanent. `dlq`: attempts used up.'),
  endpoint: z.string().max(200).optional().describe('At: `ep_…`.'),
  destination: z.string().max(2048).optional().describe('`dst_…` or a URL.'),
  application: z.string().max(256).optional().describe('`app_…`, or your own id.'),
  event_type: z.string().max(256).optional().describe('As in `invoice.paid`.'),
  message_id: z.string().max(64).optional().describe('`msg_…`.'),
};

@Injectable()
export class EventTools extends AgentTools {
  constructor(private readonly clock: Clock) {
    super();
  }

  override readonly tools = [
    readTool({
      name: 'search_events',
      title: 'Search events',
      description:
        'Events (webhooks sent and received); payload and attempts: get_event. Filters combine; payloads are not searched.',
      input: z.object({ ...FILTERS, since, until, cursor, limit }),
      example: { status: 'dlq', since: '2026-11-20T00:00:00Z', limit: 10 },
      run: async (api, args) => ({ content: await api.page(apiPath`/v1/events`, args) }),
    }),
    readTool({
      name: 'get_event',
      title: 'Get an event',
      description:
        'One event: headers, start of its payload (get_payload: more), deliveries, last attempts with excerpts of responses (list_attempts: more).',
      input: z.object({ event_id: eventId }),
      example: { event_id: EVENT },
      run: async (api, { event_id: event }) => {
        const { payload: _, attempts, ...rest } = await api.get(apiPath`/v1/events/${event}`);
        const all = attempts as ApiObject[];
        return {
          content: {
            ...rest,
            attempts: all.slice(-ATTEMPTS_SHOWN),
            attempts_in_all: all.length,
            payload:
              rest['payload_erased_at'] === undefined
                ? await api.text(apiPath`/v1/events/${event}/payload`, 0, PAYLOAD_CHARACTERS)
                : null,
          },
          untrusted: ['payload.text', 'headers', 'note', 'logs', 'attempts[].response_excerpt'],
        };
      },
    }),
    readTool({
      name: 'get_payload',
      title: 'Get a payload',
      description: `An event's payload, ${PAYLOAD_PAGE} characters at a time; \`nextOffset\` is the next \`offset\`. \`text\`: null when binary.`,
      input: z.object({ event_id: eventId, offset: z.number().int().min(0).default(0).describe('In characters.') }),
      example: { event_id: EVENT, offset: 0 },
      run: async (api, { event_id: event, offset }) => ({
        content: { ...(await api.text(apiPath`/v1/events/${event}/payload`, offset, PAYLOAD_PAGE)) },
        untrusted: ['text'],
      }),
    }),
    readTool({
      name: 'list_attempts',
      title: 'List attempts',
      description: 'All attempts of an event, oldest first, with an excerpt of the response.',
      input: z.object({
        event_id: eventId,
        failed_only: z.boolean().default(false).describe('Only those without a 2xx.'),
        page: z.number().int().min(1).max(1000).default(1).describe('Ten to a page.'),
      }),
      example: { event_id: EVENT, failed_only: true },
      run: async (api, { event_id: event, failed_only: failedOnly, page }) => {
        const { attempts } = await api.get(apiPath`/v1/events/${event}`);
        const wanted = (attempts as { status: number | null }[]).filter(
          ({ status }) => !failedOnly || status === null || status < 200 || status > 299,
        );
        const data = wanted.slice((page - 1) * ATTEMPTS_SHOWN, page * ATTEMPTS_SHOWN);
        return {
          content: { data, in_all: wanted.length, next_page: page * ATTEMPTS_SHOWN < wanted.length ? page + 1 : null },
          untrusted: ['data[].response_excerpt'],
        };
      },
    }),
    readTool({
      name: 'wait_for_event',
      title: 'Wait for event',
      description:
        `Waits up to ${WAIT_SECONDS_MAX} s for a matching event; without \`since\` or \`message_id\`, for a new one. ` +
        'Empty `data`: call again with the returned `since`.',
      input: z.object({
        ...FILTERS,
        since,
        timeout_seconds: z.number().int().min(1).max(WAIT_SECONDS_MAX).default(20).describe('How long.'),
      }),
      example: { event_type: 'invoice.paid', timeout_seconds: 10 },
      run: async (api, { timeout_seconds: seconds, ...filters }) => {
        // If a message is given, there is no default start time, because the event may be older than this call.
        const from = filters.since ?? (filters.message_id === undefined ? this.clock.now().toISOString() : undefined);
        const found = await api.until(seconds, async () => {
          const page = await api.page(apiPath`/v1/events`, { ...filters, since: from, limit: 5 });
          return (page['data'] as unknown[]).length > 0 ? page : null;
        });
        return { content: { data: found?.['data'] ?? [], timed_out: found === null, since: from ?? null } };
      },
    }),
  ];
}

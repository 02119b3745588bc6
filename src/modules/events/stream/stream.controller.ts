import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller, Scope, TakesEventSource } from '#http/access.js';
import { parseBearer } from '#http/authentication-hook.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import { Authenticator } from '#kernel/authenticator.js';
import { Clock } from '#kernel/clock.js';
import { badRequest } from '#kernel/errors.js';
import type { Caller } from '#kernel/tenant.js';
import { EventsService } from '../events.service.js';
import { StreamQuery } from './stream.dto.js';
import { EventStream } from './stream.js';
import { type Proof, StreamListener } from './stream-listener.js';
import { parsePosition } from './stream-position.js';

const EXAMPLE =
  'event: accepted\nid: 1.8412.1795253400000.1.01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1.0.0\ndata: {"id":"evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1","event_type":"invoice.paid","status":"retrying",…}\n\n';

/** Streams changes as they happen. Register this controller before `v1/events/:id`, which would match its path. */
@Section('Events', 'Accepted events, their deliveries and attempts.')
@Controller('v1/events')
export class StreamController {
  constructor(
    private readonly stream: EventStream,
    private readonly events: EventsService,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {}

  @Get('stream')
  @Scope('read')
  @TakesEventSource()
  @ApiOperation({
    summary: 'Listen to events',
    description:
      'Streams server-sent events. The items `accepted`, `attempt` and `status` (a delivery reached a final status) contain the current state of the event. The stream starts with `ready` and sends `heartbeat` every 15 s. It closes with `end` and a `reason` (`caught_up`, `key_revoked`, `session_ended`, `shutdown`). To resume, send the last received `id` as `Last-Event-ID`. This works for at most 5,000 changes of the last hour. A `gap` reports missing changes, with a `reason` (`slow`, `too_old`, `too_many`, `storage`) and the time range in which they happened (`since`, `until`). The console connects with `EventSource` and its session cookie, and names the environment in the query. Each process allows 100 open streams per key, 1,000 per organization and 2,000 in total. Further requests are rejected with 429 and `Retry-After`.',
  })
  @ApiHeader({
    name: 'last-event-id',
    required: false,
    description: 'The `id` of the last item that the client received.',
    schema: { type: 'string', maxLength: 200, example: '1.8412.1795253400000' },
  })
  @ApiOkResponse({
    description: 'The stream of server-sent events.',
    content: { 'text/event-stream; charset=utf-8': { schema: { type: 'string' }, example: EXAMPLE } },
  })
  @TryNeeds('a client that reads streams, such as `curl -N`: this page shows a response only after it has ended')
  async streamEvents(
    @CurrentCaller() caller: Caller,
    @Query() query: StreamQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { direction, environment, follow = true, ...filters } = query;
    if (environment !== undefined && environment !== caller.tenant.mode)
      throw badRequest(
        `This stream shows the ${caller.tenant.mode} environment: omit the parameter environment, or set it to that value.`,
      );
    const last = request.headers['last-event-id'];
    const resumesAt = typeof last === 'string' && last !== '' ? parsePosition(last) : null;
    if (resumesAt === null && last !== undefined && last !== '')
      throw badRequest('Last-Event-ID is not an id of this stream. Start again without it.');
    const found = await this.events.filter(caller.tenant, filters);
    this.stream.requireRoom(caller);

    reply.hijack();
    const { raw } = reply;
    const headers = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined) as [string, string][];
    raw.writeHead(200, {
      ...Object.fromEntries(headers),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    raw.flushHeaders();
    const filter = found && { ...found, ...(direction !== undefined && { direction }) };
    const listener = new StreamListener(
      { caller, proof: this.proofOf(caller, request), filter, resumesAt, follows: follow },
      raw,
      () => this.clock.monotonicMs(),
    );
    raw.on('error', () => undefined);
    raw.once('close', () => this.stream.leave(listener));
    this.stream.join(listener);
  }

  private proofOf({ session }: Caller, { headers }: FastifyRequest): Proof {
    if (session !== undefined) return { kind: 'session', value: headers.cookie ?? '' };
    return { kind: 'key', value: parseBearer(headers.authorization, this.authenticator.bearerLengthMax) ?? '' };
  }
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { ResponseRules, TransformConfig } from '#modules/endpoints/contract.dto.js';
import type { Tried } from './trial.js';

const OUTCOMES = ['routed', 'quarantined', 'parked', 'ignored'] as const;
const TRANSFORMS = ['none', 'ran', 'dropped', 'failed'] as const;
const FILTER_EXAMPLE = { path: '$.type', op: 'starts_with', value: 'invoice.' };
const ROUTES_MAX = 100;

/** A route to try. */
export class TriedRouteBody {
  /** Its destination, to tell routes apart in the answer; it need not exist. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 64,
    nullable: true,
    example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  destination?: string | null;

  /** Which events: a condition in the grammar of `when`, whose `type` is `json` when left out; null for all. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true, example: FILTER_EXAMPLE })
  filter?: Record<string, unknown> | null;
}

/** Which request to try, and the settings to try in place of the endpoint's own; what is left out is as it is set now. */
@Examples({
  now: { summary: 'As it is set now', value: { request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' } },
  filter: {
    summary: 'Whether a filter takes it',
    value: { request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', routes: [{ filter: FILTER_EXAMPLE }] },
  },
  transform: {
    summary: 'What a transform makes of it',
    value: {
      request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      transform: { engine: 'managed', code: 'export default (event) => event' },
    },
  },
})
export class TrialBody {
  /** A raw request of the endpoint, or the event (`evt_`) that it became. */
  @ApiProperty({ maxLength: 64, example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  request: string;

  /** What changes the event before it is routed; null for nothing. A URL is asked, as it would be. */
  @ApiProperty({ required: false, type: TransformConfig, nullable: true })
  transform?: TransformConfig | null;

  /** The routes. */
  @ApiProperty({ required: false, type: [TriedRouteBody], maxItems: ROUTES_MAX })
  routes?: TriedRouteBody[];

  /** The synchronous answers by rules; null for none. */
  @ApiProperty({ required: false, type: ResponseRules, nullable: true })
  responseRules?: ResponseRules | null;
}

/** What a route makes of the event. */
export class TriedRoute {
  /** Its destination. */
  @ApiProperty({ type: String, nullable: true, example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  destination: string | null;

  /** Whether it takes the event; null where its filter took too long. */
  @ApiProperty({ type: Boolean, nullable: true, example: true })
  matches: boolean | null;
}

/** What the rules answer. */
export class TriedAnswer {
  /** The place of the rule, from 0; null for the default answer. */
  @ApiProperty({ type: 'integer', nullable: true, example: 0 })
  rule: number | null;

  /** HTTP status. */
  @ApiProperty({ type: 'integer', example: 200 })
  status: number;

  /** The headers; names in lower case. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'content-type': 'application/json' },
  })
  headers: Record<string, string>;

  /** The body. */
  @ApiProperty({ example: '{"challenge": "3eZbrw1aB"}' })
  body: string;
}

/** What would become of the request. */
export class TrialResult {
  /**
   * `routed`, `quarantined` (its signature does not hold), `parked` (its transform fails, or filters or rules take too long) or `ignored` (the
   * transform drops it, or no route takes it). What each step says is there whatever the steps before say.
   */
  @ApiProperty({ enum: OUTCOMES, example: 'routed' })
  outcome: (typeof OUTCOMES)[number];

  /** Whether the signature holds with the secrets of now; null where nothing is verified. */
  @ApiProperty({ type: Boolean, nullable: true, example: true })
  verified: boolean | null;

  /** Why the signature does not hold; null where it does. */
  @ApiProperty({ type: String, nullable: true, example: null })
  verification_reason: string | null;

  /** The event's type, after the transform. */
  @ApiProperty({ example: 'invoice.paid' })
  event_type: string;

  /** What the transform did: `none` where there is none. */
  @ApiProperty({ enum: TRANSFORMS, example: 'ran' })
  transform: (typeof TRANSFORMS)[number];

  /** Why the transform failed, with the line of the code where it says one; null where it did not. */
  @ApiProperty({ type: String, nullable: true, example: null })
  transform_error: string | null;

  /** The body that the transform made; null where it stays as it came. */
  @ApiProperty({ type: String, nullable: true, example: '{"amount":4200,"token":"(CRM_TOKEN)"}' })
  body: string | null;

  /** Headers that the transform sets. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { 'x-tenant': '42' } })
  headers_set: Record<string, string>;

  /** Names of headers that it takes away. */
  @ApiProperty({ type: [String], example: [] })
  headers_removed: string[];

  /** What each route makes of the event, in the order in which they were given. */
  @ApiProperty({ type: [TriedRoute] })
  routes: TriedRoute[];

  /** What the rules answer; null where they answer nothing. A proxy is not asked. */
  @ApiProperty({ type: TriedAnswer, nullable: true })
  answer: TriedAnswer | null;
}

export function presentTried(tried: Tried): TrialResult {
  const { verdict, transformed, routes, ruled, eventType } = tried;
  const event = transformed.kind === 'event' ? transformed : null;
  const answer = ruled === null || ruled === 'undecided' ? null : ruled.answer;
  return {
    outcome: outcomeOf(tried),
    verified: verdict.verification === 'none' ? null : verdict.verification === 'verified',
    verification_reason: verdict.reason,
    event_type: eventType,
    transform: transformed.kind === 'unchanged' ? 'none' : transformed.kind === 'event' ? 'ran' : transformed.kind,
    transform_error: transformed.kind === 'failed' ? (transformed.message ?? transformed.why) : null,
    body: event?.body?.text ?? null,
    headers_set: event?.headers?.set ?? {},
    headers_removed: [...(event?.headers?.removed ?? [])],
    routes: routes.map(({ destination, matches }) => ({ destination, matches })),
    answer: answer && {
      rule: ruled === null || ruled === 'undecided' || ruled.place < 0 ? null : ruled.place,
      ...answer,
    },
  };
}

function outcomeOf({ verdict, transformed, failsOpen, routes, ruled }: Tried): TrialResult['outcome'] {
  if (verdict.verification === 'failed') return 'quarantined';
  if (ruled === 'undecided' || routes.some(({ matches }) => matches === null)) return 'parked';
  if (transformed.kind === 'failed' && !failsOpen) return 'parked';
  return transformed.kind !== 'dropped' && routes.some(({ matches }) => matches) ? 'routed' : 'ignored';
}

import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
} from 'class-validator';
import { Examples } from '#http/openapi-examples.js';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsObjectOf, IsStringMap } from '#http/validation.js';
import { ResponseRules, TransformConfig } from '#modules/endpoints/contract.dto.js';
import { CodeLogsItem } from '#modules/events/contract.dto.js';
import type { Tried } from './trial.js';

const OUTCOMES = ['routed', 'quarantined', 'parked', 'ignored'] as const;
const TRANSFORMS = ['none', 'ran', 'dropped', 'failed'] as const;
const FILTER_EXAMPLE = { path: '$.type', op: 'starts_with', value: 'invoice.' };
const ROUTES_MAX = 100;

/** A route to evaluate. */
export class TriedRouteBody {
  /** Id of the destination. It only identifies the route in the response, so the destination need not exist. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsOptional()
  @IsString()
  @MaxLength(64)
  destination?: string | null;

  /**
   * Condition that selects the events, in the format of a response rule's `when`. A condition without `type` has the
   * type `json`. `null` selects all events.
   */
  @ApiProperty({ example: FILTER_EXAMPLE })
  @IsOptional()
  @IsObject()
  filter?: Record<string, unknown> | null;
}

/**
 * The stored request to process, and settings to use instead of the endpoint's own. Omitted settings are taken from the
 * endpoint.
 */
@Examples({
  now: { summary: 'Try the current settings', value: { request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' } },
  filter: {
    summary: 'Check whether a filter matches',
    value: { request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', routes: [{ filter: FILTER_EXAMPLE }] },
  },
  transform: {
    summary: 'Show the result of a transform',
    value: {
      request: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      transform: { engine: 'managed', code: 'export default (event) => event' },
    },
  },
})
export class TrialBody {
  /** Id of a raw request of the endpoint, or of the event (`evt_`) that it created. */
  @ApiProperty({ example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @IsString()
  @MaxLength(64)
  request: string;

  /**
   * Transform that changes the event before it is routed. `null` for none. If the transform has a URL, the URL is
   * called.
   */
  @IsOptional()
  @IsObjectOf(() => TransformConfig)
  transform?: TransformConfig | null;

  /** The routes to evaluate. */
  @CanBeOmitted()
  @IsArrayOf(() => TriedRouteBody)
  @ArrayMaxSize(ROUTES_MAX)
  routes?: TriedRouteBody[];

  /** Rules for synchronous responses. `null` for none. */
  @IsOptional()
  @IsObjectOf(() => ResponseRules)
  responseRules?: ResponseRules | null;
}

/** Result of evaluating a route for the event. */
export class TriedRoute {
  /** Destination of the route. */
  @ApiProperty({ example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @CanBeNull()
  @IsString()
  destination: string | null;

  /** `true` if the route matches the event. `null` if its filter exceeded its time limit. */
  @ApiProperty({ example: true })
  @CanBeNull()
  @IsBoolean()
  matches: boolean | null;
}

/** Response that the rules produce. */
export class TriedAnswer {
  /** Position of the matching rule, starting at 0. `null` for the default response. */
  @ApiProperty({ example: 0 })
  @CanBeNull()
  @IsInt()
  rule: number | null;

  /** HTTP status code. */
  @ApiProperty({ example: 200 })
  @IsInt()
  status: number;

  /** Headers of the response, with names in lower case. */
  @ApiProperty({ example: { 'content-type': 'application/json' } })
  @IsStringMap()
  headers: Record<string, string>;

  /** Body of the response. */
  @ApiProperty({ example: '{"challenge": "3eZbrw1aB"}' })
  @IsString()
  body: string;
}

/** Outcome of processing the request with these settings. */
export class TrialResult {
  /**
   * `routed`, `quarantined` (the signature is invalid), `parked` (the transform fails, or filters or rules exceed their
   * time limit) or `ignored` (the transform drops the event, or no route matches). The results of all steps are
   * returned, even if an earlier step fails.
   */
  @ApiProperty({ example: 'routed' })
  @IsIn(OUTCOMES)
  outcome: (typeof OUTCOMES)[number];

  /** `true` if the signature is valid with the current secrets. `null` if the endpoint does not verify signatures. */
  @ApiProperty({ example: true })
  @CanBeNull()
  @IsBoolean()
  verified: boolean | null;

  /** Reason why the signature is invalid. `null` if it is valid. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  verification_reason: string | null;

  /** Type of the event after the transform. */
  @ApiProperty({ example: 'invoice.paid' })
  @IsString()
  event_type: string;

  /** Result of the transform. `none` if there is no transform. */
  @ApiProperty({ example: 'ran' })
  @IsIn(TRANSFORMS)
  transform: (typeof TRANSFORMS)[number];

  /** Reason why the transform failed, with the line of the code if known. `null` if it did not fail. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  transform_error: string | null;

  /** Console output of the transform. `null` if there is no output. */
  @CanBeNull()
  @IsObjectOf(() => CodeLogsItem)
  logs: CodeLogsItem | null;

  /** Body that the transform produced. `null` if the body is unchanged. */
  @ApiProperty({ example: '{"amount":4200,"token":"(CRM_TOKEN)"}' })
  @CanBeNull()
  @IsString()
  body: string | null;

  /** Headers that the transform sets. */
  @ApiProperty({ example: { 'x-tenant': '42' } })
  @IsStringMap()
  headers_set: Record<string, string>;

  /** Names of the headers that the transform removes. */
  @ApiProperty({ example: [] })
  @IsArray()
  @IsString({ each: true })
  headers_removed: string[];

  /** Result of each route for the event, in the order in which the routes were given. */
  @IsArrayOf(() => TriedRoute)
  routes: TriedRoute[];

  /** Response that the rules produce. `null` if no rule applies. A response proxy is not called. */
  @CanBeNull()
  @IsObjectOf(() => TriedAnswer)
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
    logs: transformed.logs ?? null,
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

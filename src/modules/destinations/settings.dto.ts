import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Strict } from '#http/schemas.js';
import type { DestinationChanges } from './changes.js';
import type { NewDestination } from './registration.js';
import type { SettingsChanges } from './settings.js';

export const VALIDATIONS = ['pending', 'valid', 'stale', 'invalid'] as const;
export const STATUSES = ['active', 'disabled'] as const;

/** How often, and after which waits, a delivery is tried. */
@Strict()
export class RetryBody {
  /** All attempts, the first one included; the length of the schedule when left out. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 20, example: 8 })
  max_attempts?: number;

  /** The longest wait before each attempt, in seconds; the last one repeats. */
  @ApiProperty({
    required: false,
    type: 'array',
    items: { type: 'integer', minimum: 0, maximum: 604_800 },
    minItems: 1,
    maxItems: 20,
    example: [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000],
  })
  schedule?: number[];
}

/** A bound on deliveries, over all workers. */
@Strict()
export class RateLimitBody {
  /** Deliveries per second; below 1 for less than one in a second. */
  @ApiProperty({ type: Number, minimum: 0.001, maximum: 1_000_000, example: 50 })
  per_second: number;
}

/** The settings of a destination that may be given when it is created and changed later. */
export class SettingsBody {
  /** Where it is, for types that have a URL. */
  @ApiProperty({ required: false, type: String, maxLength: 2048, nullable: true, example: 'https://example.com/webhooks' })
  url?: string | null;

  /** Settings of its type, and `circuit_breaker: {failure_threshold}` (1 to 1000, default 10). */
  @ApiPropertyOptional({
    type: 'object', additionalProperties: true, nullable: true, example: { circuit_breaker: { failure_threshold: 20 } },
  })
  config?: Record<string, unknown> | null;

  /** Headers that every delivery carries. */
  @ApiPropertyOptional({
    type: 'object', additionalProperties: { type: 'string' }, nullable: true, example: { 'x-tenant': '42' },
  })
  headers?: Record<string, string> | null;

  /** The retry policy; 8 attempts over about 28 hours when left out. */
  @ApiProperty({ required: false, type: RetryBody, nullable: true })
  retry?: RetryBody | null;

  /** The rate limit; none when left out. */
  @ApiProperty({ required: false, type: RateLimitBody, nullable: true })
  rate_limit?: RateLimitBody | null;

  /** How long one attempt may take, in milliseconds. */
  @ApiProperty({ required: false, type: 'integer', minimum: 100, maximum: 15_000, nullable: true, default: 15_000, example: 15_000 })
  timeout_ms?: number | null;
}

/** The destination to create. */
export class NewDestinationBody extends SettingsBody {
  /** What people know it by. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'Orders' })
  name: string;

  /** How it is delivered to: `https` or `pull`. */
  @ApiProperty({ minLength: 1, maxLength: 64, example: 'https' })
  type: string;

  /** Credentials of its type; stored encrypted and never returned. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  })
  credentials?: Record<string, string> | null;

  /** A signing secret that its receiver knows already; a new one is made when left out. */
  @ApiProperty({
    required: false, type: String, maxLength: 200, nullable: true, example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  })
  secret?: string | null;
}

/** What to change of a destination: what is left out stays, null goes back to the default. */
export class DestinationChangesBody extends SettingsBody {
  /** What people know it by. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Orders' })
  name?: string;

  /** `active` enables it and closes its circuit, `disabled` stops its deliveries. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'active' })
  status?: 'active' | 'disabled';
}

/** A target to try. */
export class CheckBody {
  /** How it would be delivered to. */
  @ApiProperty({ minLength: 1, maxLength: 64, example: 'https' })
  type: string;

  /** Where it is, for types that have a URL. */
  @ApiProperty({ required: false, type: String, maxLength: 2048, nullable: true, example: 'https://example.com/webhooks' })
  url?: string | null;
}

/** Whether a target can be reached. */
export class CheckResult {
  /** True when it can be reached. */
  @ApiProperty({ example: true })
  ok: boolean;

  /** A sentence for people; left out when there is nothing to say. */
  @ApiProperty({ required: false, example: 'The target answered with status 200.' })
  detail?: string;
}

/** What each check said. */
export class ChecksItem {
  /** The settings fit the type. */
  @ApiProperty({ example: true })
  schema: boolean;

  /** The target accepts the credentials. */
  @ApiProperty({ example: true })
  credentials: boolean;

  /** The target can be reached. */
  @ApiProperty({ example: true })
  connectivity: boolean;
}

/** What a validation found. */
export class ValidationResult {
  /** The destination's validation from now on: `stale` was reachable once and is not now. */
  @ApiProperty({ enum: VALIDATIONS, example: 'valid' })
  validation: (typeof VALIDATIONS)[number];

  /** What each check said; a check behind one that failed is false too. */
  @ApiProperty({ type: ChecksItem })
  checks: ChecksItem;

  /** A sentence for people; left out when there is nothing to say. */
  @ApiProperty({ required: false, example: 'The target answered with status 200.' })
  detail?: string;
}

/** How to rotate a signing secret. */
export class DestinationSecretRotationBody {
  /** How long the old secret goes on signing beside the new one, in seconds. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 604_800, default: 86_400, example: 86_400 })
  grace_seconds?: number;
}

/** The signing secret of a destination. */
export class DestinationSecret {
  /** `whsec_` and the key in base64: the receiver verifies with it. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  secret: string;
}

export function newDestination(body: NewDestinationBody): NewDestination {
  const { name, type, credentials, secret } = body;
  const isEmpty = !credentials || Object.keys(credentials).length === 0;
  return { name, type, settings: settingsChanges(body), credentials: isEmpty ? null : credentials, secret: secret ?? null };
}

export function destinationChanges(body: DestinationChangesBody): DestinationChanges {
  return { settings: { ...settingsChanges(body), name: body.name }, status: body.status };
}

/** Without the detail when it says nothing. */
export function presentCheck<T extends { detail: string }>({ detail, ...result }: T): Omit<T, 'detail'> & { detail?: string } {
  return detail === '' ? result : { ...result, detail };
}

function settingsChanges({ url, config, headers, retry, rate_limit: rateLimit, timeout_ms: timeoutMs }: SettingsBody): SettingsChanges {
  return { url, config, headers, retry, rateLimit, timeoutMs };
}

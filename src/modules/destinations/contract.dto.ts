import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { LEGACY_ALGORITHMS, LEGACY_ENCODINGS } from '#engine/legacy-signature.js';
import type {
  DeliverySettings,
  LegacySignatureSettings,
  ShownDeliverySettings,
} from '#modules/destinations/contract.js';

const SECRET_ENCODINGS = ['utf8', 'hex', 'base64'] as const;

/** How often, and after which waits, a delivery is tried: by numbers, or by the name of a policy. */
export class RetryBody {
  /** A policy that an extension brings, in place of numbers. Null goes back to numbers. */
  @ApiProperty({ required: false, type: String, minLength: 1, maxLength: 64, nullable: true, example: null })
  policy?: string | null;

  /** All attempts, the first one included. Left out, what was set stays, or without that it is the length of the schedule. */
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

/** How often, and after which waits, a delivery is tried. */
export class RetryItem {
  /** The policy that is followed; left out where the numbers are the destination's own or the default. */
  @ApiProperty({ required: false, example: 'patient' })
  policy?: string;

  /** Why the policy is not followed, and the default schedule holds: its extension is not loaded. Left out otherwise. */
  @ApiProperty({
    required: false,
    example:
      'Nothing brings the retry policy patient here: the extension that did is not loaded, and the default schedule holds.',
  })
  policy_unserved?: string;

  /** All attempts, the first one included. */
  @ApiProperty({ type: 'integer', example: 8 })
  max_attempts: number;

  /** The longest wait before each attempt, in seconds; the last one repeats. */
  @ApiProperty({ type: 'array', items: { type: 'integer' }, example: [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000] })
  schedule: number[];
}

/** A bound on deliveries, over all workers. */
export class RateLimitBody {
  /** Deliveries per second; below 1 for less than one in a second. */
  @ApiProperty({ type: Number, minimum: 0.001, maximum: 1_000_000, example: 50 })
  per_second: number;
}

/** The header in which a company signed its webhooks before it moved here. */
export class LegacySignatureBody implements LegacySignatureSettings {
  /** The header that carries the signature. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'X-Acme-Signature' })
  header: string;

  /** The hash under the HMAC. */
  @ApiProperty({ required: false, enum: LEGACY_ALGORITHMS, default: 'sha256', example: 'sha256' })
  algorithm?: (typeof LEGACY_ALGORITHMS)[number];

  /** How the signature is written. */
  @ApiProperty({ required: false, enum: LEGACY_ENCODINGS, default: 'hex', example: 'hex' })
  encoding?: (typeof LEGACY_ENCODINGS)[number];

  /** What is signed: literal text, `{id}`, `{timestamp}` (Unix seconds) and, once, `{body}`. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, default: '{body}', example: '{timestamp}.{body}' })
  content?: string;

  /** The header's value: literal text, `{id}`, `{timestamp}` and `{signature}`. */
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: 200,
    default: '{signature}',
    example: 't={timestamp},v1={signature}',
  })
  format?: string;

  /** A header that carries the timestamp; none when left out. */
  @ApiProperty({
    required: false,
    type: String,
    minLength: 1,
    maxLength: 200,
    nullable: true,
    example: 'X-Acme-Timestamp',
  })
  timestamp_header?: string | null;

  /** A header that repeats the message's id; none when left out. */
  @ApiProperty({
    required: false,
    type: String,
    minLength: 1,
    maxLength: 200,
    nullable: true,
    example: 'X-Acme-Delivery',
  })
  id_header?: string | null;

  /** The key of the HMAC; stored encrypted and never returned. The stored one stays when it is left out. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 1024, example: 'an-old-shared-secret' })
  secret?: string;

  /** How `secret` is written. */
  @ApiProperty({ required: false, enum: SECRET_ENCODINGS, default: 'utf8', example: 'utf8' })
  secret_encoding?: (typeof SECRET_ENCODINGS)[number];
}

/** A legacy signature as it is stored; its secret is never in it. */
export class LegacySignatureItem {
  /** The header that carries the signature. */
  @ApiProperty({ example: 'X-Acme-Signature' })
  header: string;

  /** The hash under the HMAC. */
  @ApiProperty({ enum: LEGACY_ALGORITHMS, example: 'sha256' })
  algorithm: (typeof LEGACY_ALGORITHMS)[number];

  /** How the signature is written. */
  @ApiProperty({ enum: LEGACY_ENCODINGS, example: 'hex' })
  encoding: (typeof LEGACY_ENCODINGS)[number];

  /** What is signed. */
  @ApiProperty({ example: '{timestamp}.{body}' })
  content: string;

  /** The header's value. */
  @ApiProperty({ example: 't={timestamp},v1={signature}' })
  format: string;

  /** The header that carries the timestamp, or null. */
  @ApiProperty({ type: String, nullable: true, example: 'X-Acme-Timestamp' })
  timestamp_header: string | null;

  /** The header that repeats the message's id, or null. */
  @ApiProperty({ type: String, nullable: true, example: null })
  id_header: string | null;
}

/** How something is delivered to: the same for a destination and for an endpoint of an application. */
export class DeliverySettingsBody implements DeliverySettings {
  /** Headers that every delivery carries. They win over those of a received request, and those of a send win over them. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { 'x-tenant': '42' },
  })
  headers?: Record<string, string> | null;

  /** The retry policy; 8 attempts over about 28 hours when left out. */
  @ApiProperty({ required: false, type: RetryBody, nullable: true })
  retry?: RetryBody | null;

  /** The rate limit; none when left out. */
  @ApiProperty({ required: false, type: RateLimitBody, nullable: true })
  rate_limit?: RateLimitBody | null;

  /** How long one attempt may take, in milliseconds. */
  @ApiProperty({
    required: false,
    type: 'integer',
    minimum: 100,
    maximum: 15_000,
    nullable: true,
    default: 15_000,
    example: 15_000,
  })
  timeout_ms?: number | null;

  /** Most attempts that one worker process has under way at once; what the target bears (up to 512) when left out. */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 1000, nullable: true, example: 10 })
  concurrency?: number | null;

  /** Sign with an ed25519 key (`v1a`) beside the secret. False removes the key. */
  @ApiProperty({ required: false, type: Boolean, nullable: true, default: false, example: false })
  asymmetric?: boolean | null;

  /** An old signature header to send beside the standard ones, for as long as receivers move; none when left out. */
  @ApiProperty({ required: false, type: LegacySignatureBody, nullable: true })
  legacy_signature?: LegacySignatureBody | null;
}

/** How something is delivered to, as it is in force. */
export class DeliverySettingsItem implements ShownDeliverySettings {
  /** Headers that every delivery carries. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { 'x-tenant': '42' } })
  headers: Record<string, string>;

  /** The retry policy in force. */
  @ApiProperty({ type: RetryItem })
  retry: RetryItem;

  /** The rate limit in force; null when there is none. */
  @ApiProperty({ type: RateLimitBody, nullable: true })
  rate_limit: RateLimitBody | null;

  /** How long one attempt may take, in milliseconds. */
  @ApiProperty({ type: 'integer', example: 15_000 })
  timeout_ms: number;

  /** Most attempts that one worker process has under way at once; null for what the target bears. */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  concurrency: number | null;

  /** Whether deliveries carry an ed25519 signature (`v1a`) beside the one of the secret. */
  @ApiProperty({ example: false })
  asymmetric: boolean;

  /** The old signature header that is sent as well; null when there is none. */
  @ApiProperty({ type: LegacySignatureItem, nullable: true })
  legacy_signature: LegacySignatureItem | null;
}

/** What verifies deliveries. */
export class SigningSecretItem {
  /** `whsec_` and the key in base64: the receiver verifies `v1` signatures with it. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  secret: string;

  /** `whpk_` and the public key in base64, which verifies `v1a` signatures; null unless `asymmetric`. */
  @ApiProperty({ type: String, nullable: true, example: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=' })
  public_key: string | null;
}

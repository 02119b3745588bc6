import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { LEGACY_ALGORITHMS, LEGACY_ENCODINGS } from '#engine/legacy-signature.js';
import type {
  DeliverySettings,
  LegacySignatureSettings,
  ShownDeliverySettings,
} from '#modules/destinations/contract.js';

const SECRET_ENCODINGS = ['utf8', 'hex', 'base64'] as const;

/** Number of attempts per delivery and the waits between them, given as numbers or as the name of a policy. */
export class RetryBody {
  /**
   * Name of a retry policy from an extension, used instead of `max_attempts` and `schedule`. `null` removes the policy.
   */
  @ApiProperty({ required: false, type: String, minLength: 1, maxLength: 64, nullable: true, example: null })
  policy?: string | null;

  /**
   * Total number of attempts, including the first. If omitted, the stored value stays. If no value is stored, the
   * default is the length of the schedule.
   */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 20, example: 8 })
  max_attempts?: number;

  /** Maximum wait before each attempt, in seconds. The last value applies to all further attempts. */
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

/** Number of attempts per delivery and the waits between them. */
export class RetryItem {
  /** Name of the retry policy in use. Omitted if the destination has its own or the default attempts and schedule. */
  @ApiProperty({ required: false, example: 'patient' })
  policy?: string;

  /**
   * Reason why the default schedule applies instead of the policy: the policy's extension is not loaded. Omitted
   * otherwise.
   */
  @ApiProperty({
    required: false,
    example:
      'Nothing brings the retry policy patient here: the extension that did is not loaded, and the default schedule holds.',
  })
  policy_unserved?: string;

  /** Total number of attempts, including the first. */
  @ApiProperty({ type: 'integer', example: 8 })
  max_attempts: number;

  /** Maximum wait before each attempt, in seconds. The last value applies to all further attempts. */
  @ApiProperty({ type: 'array', items: { type: 'integer' }, example: [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000] })
  schedule: number[];
}

/** A limit on the rate of deliveries, shared by all workers. */
export class RateLimitBody {
  /** Deliveries per second. Values below 1 allow less than one delivery per second. */
  @ApiProperty({ type: Number, minimum: 0.001, maximum: 1_000_000, example: 50 })
  per_second: number;
}

/** The header with which your company signed its webhooks before it moved to Posthorn. */
export class LegacySignatureBody implements LegacySignatureSettings {
  /** Name of the header that carries the signature. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'X-Acme-Signature' })
  header: string;

  /** Hash function of the HMAC. */
  @ApiProperty({ required: false, enum: LEGACY_ALGORITHMS, default: 'sha256', example: 'sha256' })
  algorithm?: (typeof LEGACY_ALGORITHMS)[number];

  /** Encoding of the signature. */
  @ApiProperty({ required: false, enum: LEGACY_ENCODINGS, default: 'hex', example: 'hex' })
  encoding?: (typeof LEGACY_ENCODINGS)[number];

  /** Template of the signed content: literal text, `{id}`, `{timestamp}` (Unix seconds) and exactly once `{body}`. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, default: '{body}', example: '{timestamp}.{body}' })
  content?: string;

  /** Template of the header's value: literal text, `{id}`, `{timestamp}` and `{signature}`. */
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: 200,
    default: '{signature}',
    example: 't={timestamp},v1={signature}',
  })
  format?: string;

  /** Name of a header that carries the timestamp. If omitted, this header is not sent. */
  @ApiProperty({
    required: false,
    type: String,
    minLength: 1,
    maxLength: 200,
    nullable: true,
    example: 'X-Acme-Timestamp',
  })
  timestamp_header?: string | null;

  /** Name of a header that repeats the id of the message. If omitted, this header is not sent. */
  @ApiProperty({
    required: false,
    type: String,
    minLength: 1,
    maxLength: 200,
    nullable: true,
    example: 'X-Acme-Delivery',
  })
  id_header?: string | null;

  /** Key of the HMAC. Stored encrypted and never returned. If omitted, the stored key stays. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 1024, example: 'an-old-shared-secret' })
  secret?: string;

  /** Encoding of `secret`. */
  @ApiProperty({ required: false, enum: SECRET_ENCODINGS, default: 'utf8', example: 'utf8' })
  secret_encoding?: (typeof SECRET_ENCODINGS)[number];
}

/** A stored legacy signature, without its secret. */
export class LegacySignatureItem {
  /** Name of the header that carries the signature. */
  @ApiProperty({ example: 'X-Acme-Signature' })
  header: string;

  /** Hash function of the HMAC. */
  @ApiProperty({ enum: LEGACY_ALGORITHMS, example: 'sha256' })
  algorithm: (typeof LEGACY_ALGORITHMS)[number];

  /** Encoding of the signature. */
  @ApiProperty({ enum: LEGACY_ENCODINGS, example: 'hex' })
  encoding: (typeof LEGACY_ENCODINGS)[number];

  /** Template of the signed content. */
  @ApiProperty({ example: '{timestamp}.{body}' })
  content: string;

  /** Template of the header's value. */
  @ApiProperty({ example: 't={timestamp},v1={signature}' })
  format: string;

  /** Name of the header that carries the timestamp, or `null`. */
  @ApiProperty({ type: String, nullable: true, example: 'X-Acme-Timestamp' })
  timestamp_header: string | null;

  /** Name of the header that repeats the id of the message, or `null`. */
  @ApiProperty({ type: String, nullable: true, example: null })
  id_header: string | null;
}

/** Delivery settings, which are the same for a destination and for an endpoint of an application. */
export class DeliverySettingsBody implements DeliverySettings {
  /**
   * Headers that are added to every delivery. They override the headers of a received request. Headers in a send
   * request override them.
   */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { 'x-tenant': '42' },
  })
  headers?: Record<string, string> | null;

  /** Retry policy. Defaults to 8 attempts over about 28 hours. */
  @ApiProperty({ required: false, type: RetryBody, nullable: true })
  retry?: RetryBody | null;

  /** Rate limit. If omitted, deliveries are not rate limited. */
  @ApiProperty({ required: false, type: RateLimitBody, nullable: true })
  rate_limit?: RateLimitBody | null;

  /** Time limit for one attempt, in milliseconds. */
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

  /**
   * Maximum number of attempts that one worker process has in flight at the same time. If omitted, the limit adapts to
   * what the target can handle, up to 512.
   */
  @ApiProperty({ required: false, type: 'integer', minimum: 1, maximum: 1000, nullable: true, example: 10 })
  concurrency?: number | null;

  /** If `true`, deliveries are also signed with an ed25519 key (`v1a`). `false` removes the key. */
  @ApiProperty({ required: false, type: Boolean, nullable: true, default: false, example: false })
  asymmetric?: boolean | null;

  /**
   * Legacy signature header that is sent in addition to the standard headers while receivers migrate. If omitted, no
   * legacy header is sent.
   */
  @ApiProperty({ required: false, type: LegacySignatureBody, nullable: true })
  legacy_signature?: LegacySignatureBody | null;
}

/** The delivery settings in effect. */
export class DeliverySettingsItem implements ShownDeliverySettings {
  /** Headers that are added to every delivery. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { 'x-tenant': '42' } })
  headers: Record<string, string>;

  /** The retry policy in effect. */
  @ApiProperty({ type: RetryItem })
  retry: RetryItem;

  /** The rate limit in effect. `null` if there is none. */
  @ApiProperty({ type: RateLimitBody, nullable: true })
  rate_limit: RateLimitBody | null;

  /** Time limit for one attempt, in milliseconds. */
  @ApiProperty({ type: 'integer', example: 15_000 })
  timeout_ms: number;

  /**
   * Maximum number of attempts that one worker process has in flight at the same time. `null` if the limit adapts to
   * the target.
   */
  @ApiProperty({ type: 'integer', nullable: true, example: null })
  concurrency: number | null;

  /** `true` if deliveries carry an ed25519 signature (`v1a`) in addition to the signature with the secret. */
  @ApiProperty({ example: false })
  asymmetric: boolean;

  /** Legacy signature header that is sent in addition to the standard headers. `null` if there is none. */
  @ApiProperty({ type: LegacySignatureItem, nullable: true })
  legacy_signature: LegacySignatureItem | null;
}

/** The keys with which a receiver verifies deliveries. */
export class SigningSecretItem {
  /** `whsec_` followed by the key in base64. The receiver verifies `v1` signatures with it. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  secret: string;

  /**
   * `whpk_` followed by the public key in base64, with which the receiver verifies `v1a` signatures. `null` unless
   * `asymmetric` is `true`.
   */
  @ApiProperty({ type: String, nullable: true, example: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=' })
  public_key: string | null;
}

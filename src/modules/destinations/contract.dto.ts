import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
} from 'class-validator';
import { LEGACY_ALGORITHMS, LEGACY_ENCODINGS } from '#engine/legacy-signature.js';
import { CanBeNull, CanBeOmitted, IsObjectOf, IsStringMap } from '#http/validation.js';
import type {
  DeliverySettings,
  LegacySignatureSettings,
  ShownDeliverySettings,
} from '#modules/destinations/contract.js';

const SECRET_ENCODINGS = ['utf8', 'hex', 'base64'] as const;

/** Number of attempts per delivery and the waits between them, given as numbers or as the name of a retry policy. */
export class RetryBody {
  /**
   * Name of a retry policy from an extension, used instead of `max_attempts` and `schedule`. `null` removes the policy.
   */
  @ApiProperty({ example: null })
  @IsOptional()
  @IsString()
  @Length(1, 64)
  policy?: string | null;

  /**
   * Total number of attempts, including the first. If omitted, the stored value stays. If no value is stored, the
   * default is the length of the schedule.
   */
  @ApiProperty({ example: 8 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(20)
  max_attempts?: number;

  /** Maximum wait before each attempt, in seconds. The last value applies to all remaining attempts. */
  @ApiProperty({ example: [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000] })
  @CanBeOmitted()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(20)
  @IsInt({ each: true })
  @Min(0, { each: true })
  @Max(604_800, { each: true })
  schedule?: number[];
}

/** Number of attempts per delivery and the waits between them. */
export class RetryItem {
  /** Name of the retry policy from an extension. Omitted if the destination uses no named policy. */
  @ApiProperty({ example: 'patient' })
  @CanBeOmitted()
  @IsString()
  policy?: string;

  /** Set only if the extension with the policy is not loaded: the reason why the default schedule applies instead. */
  @ApiProperty({
    example:
      'Nothing brings the retry policy patient here: the extension that did is not loaded, and the default schedule holds.',
  })
  @CanBeOmitted()
  @IsString()
  policy_unserved?: string;

  /** Total number of attempts, including the first. */
  @ApiProperty({ example: 8 })
  @IsInt()
  max_attempts: number;

  /** Maximum wait before each attempt, in seconds. The last value applies to all remaining attempts. */
  @ApiProperty({ example: [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000] })
  @IsArray()
  @IsInt({ each: true })
  schedule: number[];
}

/** A limit on the rate of deliveries, shared by all workers. */
export class RateLimitBody {
  /** Deliveries per second. May be a fraction: 0.1 allows one delivery every ten seconds. */
  @ApiProperty({ example: 50 })
  @IsNumber()
  @Min(0.001)
  @Max(1_000_000)
  per_second: number;
}

/** The signature header that you used before you moved to Posthorn, for receivers that still verify it. */
export class LegacySignatureBody implements LegacySignatureSettings {
  /** Name of the header that carries the signature. */
  @ApiProperty({ example: 'X-Acme-Signature' })
  @IsString()
  @Length(1, 200)
  header: string;

  /** Hash function of the HMAC. */
  @ApiProperty({ default: 'sha256', example: 'sha256' })
  @CanBeOmitted()
  @IsIn(LEGACY_ALGORITHMS)
  algorithm?: (typeof LEGACY_ALGORITHMS)[number];

  /** Encoding of the signature. */
  @ApiProperty({ default: 'hex', example: 'hex' })
  @CanBeOmitted()
  @IsIn(LEGACY_ENCODINGS)
  encoding?: (typeof LEGACY_ENCODINGS)[number];

  /** Template of the signed content: literal text, `{id}`, `{timestamp}` (Unix seconds) and exactly once `{body}`. */
  @ApiProperty({ default: '{body}', example: '{timestamp}.{body}' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  content?: string;

  /** Template of the header's value. May contain `{id}`, `{timestamp}`, `{signature}` and literal text. */
  @ApiProperty({ default: '{signature}', example: 't={timestamp},v1={signature}' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  format?: string;

  /** Name of a header that carries the timestamp. If omitted, this header is not sent. */
  @ApiProperty({ example: 'X-Acme-Timestamp' })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  timestamp_header?: string | null;

  /** Name of a header that repeats the id of the message. If omitted, this header is not sent. */
  @ApiProperty({ example: 'X-Acme-Delivery' })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  id_header?: string | null;

  /** Key of the HMAC. Stored encrypted and never returned. If omitted, the stored key is kept. */
  @ApiProperty({ example: 'an-old-shared-secret' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 1024)
  secret?: string;

  /** Encoding of `secret`. */
  @ApiProperty({ default: 'utf8', example: 'utf8' })
  @CanBeOmitted()
  @IsIn(SECRET_ENCODINGS)
  secret_encoding?: (typeof SECRET_ENCODINGS)[number];
}

/** A stored legacy signature, without its secret. */
export class LegacySignatureItem {
  /** Name of the header that carries the signature. */
  @ApiProperty({ example: 'X-Acme-Signature' })
  @IsString()
  header: string;

  /** Hash function of the HMAC. */
  @ApiProperty({ example: 'sha256' })
  @IsIn(LEGACY_ALGORITHMS)
  algorithm: (typeof LEGACY_ALGORITHMS)[number];

  /** Encoding of the signature. */
  @ApiProperty({ example: 'hex' })
  @IsIn(LEGACY_ENCODINGS)
  encoding: (typeof LEGACY_ENCODINGS)[number];

  /** Template of the signed content. */
  @ApiProperty({ example: '{timestamp}.{body}' })
  @IsString()
  content: string;

  /** Template of the header's value. */
  @ApiProperty({ example: 't={timestamp},v1={signature}' })
  @IsString()
  format: string;

  /** Name of the header that carries the timestamp, or `null`. */
  @ApiProperty({ example: 'X-Acme-Timestamp' })
  @CanBeNull()
  @IsString()
  timestamp_header: string | null;

  /** Name of the header that repeats the id of the message, or `null`. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsString()
  id_header: string | null;
}

/** Delivery settings of a destination or of an application's endpoint. */
export class DeliverySettingsBody implements DeliverySettings {
  /**
   * Headers that are added to every delivery. They replace headers of the same name from a received request. Headers of
   * a send request replace them.
   */
  @ApiProperty({ example: { 'x-tenant': '42' } })
  @IsOptional()
  @IsStringMap()
  headers?: Record<string, string> | null;

  /** Retry policy. Defaults to 8 attempts over about 28 hours. */
  @IsOptional()
  @IsObjectOf(() => RetryBody)
  retry?: RetryBody | null;

  /** Rate limit. If omitted, deliveries are not rate limited. */
  @IsOptional()
  @IsObjectOf(() => RateLimitBody)
  rate_limit?: RateLimitBody | null;

  /** Time limit for one attempt, in milliseconds. */
  @ApiProperty({ default: 15_000, example: 15_000 })
  @IsOptional()
  @IsInt()
  @Min(100)
  @Max(15_000)
  timeout_ms?: number | null;

  /**
   * Maximum number of concurrent attempts per worker process. If omitted, the limit adapts to what the target can
   * handle, up to 512.
   */
  @ApiProperty({ example: 10 })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1000)
  concurrency?: number | null;

  /** If `true`, deliveries are also signed with an ed25519 key (`v1a`). `false` removes the key. */
  @ApiProperty({ default: false, example: false })
  @IsOptional()
  @IsBoolean()
  asymmetric?: boolean | null;

  /**
   * Legacy signature header that is sent in addition to the standard headers while receivers migrate. If omitted, no
   * legacy header is sent.
   */
  @IsOptional()
  @IsObjectOf(() => LegacySignatureBody)
  legacy_signature?: LegacySignatureBody | null;
}

/** The delivery settings in effect. */
export class DeliverySettingsItem implements ShownDeliverySettings {
  /** Headers that are added to every delivery. */
  @ApiProperty({ example: { 'x-tenant': '42' } })
  @IsStringMap()
  headers: Record<string, string>;

  /** The retry policy in effect. */
  @IsObjectOf(() => RetryItem)
  retry: RetryItem;

  /** The rate limit in effect. `null` if there is none. */
  @CanBeNull()
  @IsObjectOf(() => RateLimitBody)
  rate_limit: RateLimitBody | null;

  /** Time limit for one attempt, in milliseconds. */
  @ApiProperty({ example: 15_000 })
  @IsInt()
  timeout_ms: number;

  /** Maximum number of concurrent attempts per worker process. `null` if the limit adapts to the target. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsInt()
  concurrency: number | null;

  /** `true` if deliveries carry an ed25519 signature (`v1a`) in addition to the signature with the secret. */
  @ApiProperty({ example: false })
  @IsBoolean()
  asymmetric: boolean;

  /** Legacy signature header, sent in addition to the standard signature headers. `null` if there is none. */
  @CanBeNull()
  @IsObjectOf(() => LegacySignatureItem)
  legacy_signature: LegacySignatureItem | null;
}

/** The signing secret and the public key with which a receiver verifies deliveries. */
export class SigningSecretItem {
  /** `whsec_` followed by the key in base64. The receiver uses this secret to verify `v1` signatures. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  @IsString()
  secret: string;

  /**
   * `whpk_` followed by the public key in base64, with which the receiver verifies `v1a` signatures. `null` unless
   * `asymmetric` is `true`.
   */
  @ApiProperty({ example: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=' })
  @CanBeNull()
  @IsString()
  public_key: string | null;
}

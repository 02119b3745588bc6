import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsObject, IsOptional, IsString, Length, Max, MaxLength, Min } from 'class-validator';
import type { Forwarding } from '#engine/inbound/forwarded-url.js';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import { CanBeOmitted, IsObjectOf, IsStringMap } from '#http/validation.js';
import type { ShownSecret } from '#modules/destinations/contract.js';
import type { DestinationChanges } from './changes.js';
import { DeliverySettingsBody, type SigningSecretItem } from './contract.dto.js';
import { deliveryChanges } from './delivery-settings.js';
import type { NewDestination } from './registration.js';
import type { SettingsChanges } from './settings.js';

export const VALIDATIONS = ['pending', 'valid', 'stale', 'invalid'] as const;
export const STATUSES = ['active', 'disabled'] as const;

/** Parts of a received request that deliveries of type `https` copy. Omitted fields keep their value. */
export class ForwardBody implements Partial<Forwarding> {
  /** If `true`, deliveries use the method of the received request. Otherwise, they are POST requests. */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  method?: boolean;

  /**
   * If `true`, the part of the received path that follows the endpoint's path is appended to the path of the URL. A
   * delivery whose received path contains `..` fails.
   */
  @ApiProperty({ default: false, example: true })
  @CanBeOmitted()
  @IsBoolean()
  path?: boolean;

  /**
   * If `true`, the query parameters of the received request are added to the URL, except parameters that the URL
   * already contains.
   */
  @ApiProperty({ default: true, example: true })
  @CanBeOmitted()
  @IsBoolean()
  query?: boolean;
}

/** Settings of a destination that can be given at creation and changed later. */
export class SettingsBody extends DeliverySettingsBody {
  /** URL of the target, for types that have a URL. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  url?: string | null;

  /**
   * Settings specific to the destination type (for example `queueUrl` and `region` of a queue), and
   * `circuit_breaker: {failure_threshold}` (1 to 1000, default 10).
   */
  @ApiProperty({ example: { circuit_breaker: { failure_threshold: 20 } } })
  @IsOptional()
  @IsObject()
  config?: Record<string, unknown> | null;

  /** Parts of a received request that deliveries copy. Only for type `https`. */
  @ApiProperty({ example: { method: true, path: true, query: true } })
  @IsOptional()
  @IsObjectOf(() => ForwardBody)
  forward?: ForwardBody | null;
}

/** The destination to create. */
@Examples({
  pull: {
    summary: 'pull: your consumer fetches the events. No receiving URL is needed',
    value: { name: 'Orders, to fetch', type: 'pull' },
  },
  https: {
    summary: 'https: signed POST requests to your URL',
    value: { name: 'Orders', type: 'https', url: 'https://example.com/webhooks' },
  },
  mirror: {
    summary: 'mirror: forward received requests unchanged',
    value: { name: 'Orders, unchanged', type: 'mirror', url: 'https://example.com/webhooks' },
  },
  sqs: {
    summary: 'sqs: send messages to an Amazon SQS queue',
    value: {
      name: 'Orders queue',
      type: 'sqs',
      config: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders', region: 'eu-west-1' },
      credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    },
  },
})
export class NewDestinationBody extends SettingsBody {
  /** Display name. */
  @ApiProperty({ example: 'Orders' })
  @IsString()
  @Length(1, 200)
  name: string;

  /** Type of the destination: `https`, `mirror`, `sqs`, `pull`, or a type that an extension adds. */
  @ApiProperty({ example: 'https' })
  @IsString()
  @Length(1, 64)
  type: string;

  /** Credentials for the target, depending on the type. Stored encrypted and never returned. */
  @ApiProperty({
    example: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  })
  @IsOptional()
  @IsStringMap()
  credentials?: Record<string, string> | null;

  /** Signing secret that the receiver already knows. If omitted, a new secret is generated. */
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' })
  @IsOptional()
  @IsString()
  @MaxLength(200)
  secret?: string | null;
}

/** Changes to a destination. Omitted fields keep their value. `null` restores the default. */
@Fixed({
  type: 'cannot be changed: create another destination',
  secret: 'cannot be set: rotate it with POST …/secret/rotate',
})
@Examples({
  name: { summary: 'Change the name', value: { name: 'Shop orders' } },
  retry: {
    summary: 'Set fewer attempts and a rate limit',
    value: { retry: { max_attempts: 5 }, rate_limit: { per_second: 50 } },
  },
  disable: { summary: 'Stop deliveries', value: { status: 'disabled' } },
  enable: { summary: 'Resume deliveries and close the circuit', value: { status: 'active' } },
  credentials: {
    summary: 'sqs: replace the credentials',
    value: {
      credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    },
  },
})
export class DestinationChangesBody extends SettingsBody {
  /** Display name. */
  @ApiProperty({ example: 'Orders' })
  @CanBeOmitted()
  @IsString()
  @Length(1, 200)
  name?: string;

  /** New credentials, which replace all stored ones. Checked before they are stored, and never returned. */
  @ApiProperty({
    example: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  })
  @IsOptional()
  @IsStringMap()
  credentials?: Record<string, string> | null;

  /** `active` enables the destination and closes its circuit breaker. `disabled` stops its deliveries. */
  @ApiProperty({ example: 'active' })
  @CanBeOmitted()
  @IsIn(STATUSES)
  status?: 'active' | 'disabled';
}

/** The target to check. */
@Examples({
  https: {
    summary: 'https: check whether the URL is reachable',
    value: { type: 'https', url: 'https://example.com/webhooks' },
  },
  sqs: {
    summary: 'sqs: check that the queue exists and the credentials are valid',
    value: {
      type: 'sqs',
      config: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders', region: 'eu-west-1' },
      credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    },
  },
})
export class CheckBody {
  /** Type of the destination. */
  @ApiProperty({ example: 'https' })
  @IsString()
  @Length(1, 64)
  type: string;

  /** URL of the target, for types that have a URL. */
  @ApiProperty({ example: 'https://example.com/webhooks' })
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  url?: string | null;

  /** Settings specific to the destination type, in the same format as when a destination is created. */
  @ApiProperty({ example: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/orders', region: 'eu-west-1' } })
  @IsOptional()
  @IsObject()
  config?: Record<string, unknown> | null;

  /** Credentials for the target. Used only for this check and not stored. */
  @ApiProperty({ example: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' } })
  @IsOptional()
  @IsStringMap()
  credentials?: Record<string, string> | null;
}

/** Result of a reachability check. */
export class CheckResult {
  /** `true` if the target is reachable. */
  @ApiProperty({ example: true })
  @IsBoolean()
  ok: boolean;

  /** Explanation of the result for human readers. Omitted if there is nothing to explain. */
  @ApiProperty({ example: 'The target answered with status 200.' })
  @CanBeOmitted()
  @IsString()
  detail?: string;
}

/** Results of the individual checks. */
export class ChecksItem {
  /** `true` if the settings are valid for the destination type. */
  @ApiProperty({ example: true })
  @IsBoolean()
  schema: boolean;

  /** `true` if the target accepts the credentials. */
  @ApiProperty({ example: true })
  @IsBoolean()
  credentials: boolean;

  /** `true` if the target is reachable. */
  @ApiProperty({ example: true })
  @IsBoolean()
  connectivity: boolean;
}

/** Result of the validation of a destination. */
export class ValidationResult {
  /**
   * New validation state of the destination. `stale` means that the target was reachable before and is not reachable
   * now.
   */
  @ApiProperty({ example: 'valid' })
  @IsIn(VALIDATIONS)
  validation: (typeof VALIDATIONS)[number];

  /** Results of the individual checks. After a failed check, the remaining checks are also `false`. */
  @IsObjectOf(() => ChecksItem)
  checks: ChecksItem;

  /** Explanation of the result for human readers. Omitted if there is nothing to explain. */
  @ApiProperty({ example: 'The target answered with status 200.' })
  @CanBeOmitted()
  @IsString()
  detail?: string;
}

/** Options for the rotation of a signing secret. */
@Examples({
  day: { summary: 'Sign with both secrets for a day', value: { grace_seconds: 86_400 } },
  now: { summary: 'Stop using the old secret now', value: { grace_seconds: 0 } },
})
export class DestinationSecretRotationBody {
  /** Time in seconds for which deliveries are still signed with the old secret, in addition to the new one. */
  @ApiProperty({ default: 86_400, example: 86_400 })
  @CanBeOmitted()
  @IsInt()
  @Min(0)
  @Max(604_800)
  grace_seconds?: number;
}

export function newDestination(body: NewDestinationBody): NewDestination {
  const { name, type, credentials, secret } = body;
  return { name, type, settings: settingsChanges(body), credentials: someOrNull(credentials), secret: secret ?? null };
}

export function destinationChanges(body: DestinationChangesBody): DestinationChanges {
  const { name, status, credentials } = body;
  return {
    settings: { ...settingsChanges(body), name },
    status,
    ...(credentials !== undefined && { credentials: someOrNull(credentials) }),
  };
}

/** Returns the credentials, or `null` if they have no fields. */
function someOrNull(credentials: Record<string, string> | null | undefined): Record<string, string> | null {
  return credentials && Object.keys(credentials).length > 0 ? credentials : null;
}

/** Returns the API representation of a signing secret. */
export function presentSecret({ secret, publicKey }: ShownSecret): SigningSecretItem {
  return { secret, public_key: publicKey };
}

/** Returns the API representation of a check result. Omits `detail` if it is empty. */
export function presentCheck<T extends { detail: string }>({
  detail,
  ...result
}: T): Omit<T, 'detail'> & { detail?: string } {
  return detail === '' ? result : { ...result, detail };
}

function settingsChanges({ url, config, forward, ...delivery }: SettingsBody): SettingsChanges {
  return { url, config, forward, ...deliveryChanges(delivery) };
}

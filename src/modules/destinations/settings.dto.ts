import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ShownSecret } from '#modules/destinations/contract.js';
import type { DestinationChanges } from './changes.js';
import { DeliverySettingsBody, type SigningSecretItem } from './contract.dto.js';
import { deliveryChanges } from './delivery-settings.js';
import type { NewDestination } from './registration.js';
import type { SettingsChanges } from './settings.js';

export const VALIDATIONS = ['pending', 'valid', 'stale', 'invalid'] as const;
export const STATUSES = ['active', 'disabled'] as const;

/** The settings of a destination that may be given when it is created and changed later. */
export class SettingsBody extends DeliverySettingsBody {
  /** Where it is, for types that have a URL. */
  @ApiProperty({ required: false, type: String, maxLength: 2048, nullable: true, example: 'https://example.com/webhooks' })
  url?: string | null;

  /** Settings of its type (`queueUrl` and `region` of a queue), and `circuit_breaker: {failure_threshold}` (1 to 1000, default 10). */
  @ApiPropertyOptional({
    type: 'object', additionalProperties: true, nullable: true, example: { circuit_breaker: { failure_threshold: 20 } },
  })
  config?: Record<string, unknown> | null;
}

/** The destination to create. */
export class NewDestinationBody extends SettingsBody {
  /** What people know it by. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'Orders' })
  name: string;

  /** How it is delivered to: `https`, `mirror`, `sqs` or `pull`, or a type that an extension adds. */
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

  /** Settings of its type, as they would be given to create it. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, nullable: true, example: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/orders', region: 'eu-west-1' } })
  config?: Record<string, unknown> | null;

  /** Credentials of its type; used for this check and not stored. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: { type: 'string' }, nullable: true, example: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' } })
  credentials?: Record<string, string> | null;
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

export function newDestination(body: NewDestinationBody): NewDestination {
  const { name, type, credentials, secret } = body;
  const isEmpty = !credentials || Object.keys(credentials).length === 0;
  return { name, type, settings: settingsChanges(body), credentials: isEmpty ? null : credentials, secret: secret ?? null };
}

export function destinationChanges(body: DestinationChangesBody): DestinationChanges {
  return { settings: { ...settingsChanges(body), name: body.name }, status: body.status };
}

/** The secret as receivers are given it. */
export function presentSecret({ secret, publicKey }: ShownSecret): SigningSecretItem {
  return { secret, public_key: publicKey };
}

/** Without the detail when it says nothing. */
export function presentCheck<T extends { detail: string }>({ detail, ...result }: T): Omit<T, 'detail'> & { detail?: string } {
  return detail === '' ? result : { ...result, detail };
}

function settingsChanges({ url, config, ...delivery }: SettingsBody): SettingsChanges {
  return { url, config, ...deliveryChanges(delivery) };
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Examples } from '#http/openapi-examples.js';
import { Fixed } from '#http/schemas.js';
import type { ShownSecret } from '#modules/destinations/contract.js';
import type { DestinationChanges } from './changes.js';
import { DeliverySettingsBody, type SigningSecretItem } from './contract.dto.js';
import { deliveryChanges } from './delivery-settings.js';
import type { NewDestination } from './registration.js';
import type { SettingsChanges } from './settings.js';

export const VALIDATIONS = ['pending', 'valid', 'stale', 'invalid'] as const;
export const STATUSES = ['active', 'disabled'] as const;

const CREDENTIALS = {
  type: 'object',
  additionalProperties: { type: 'string' },
  nullable: true,
  example: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
} as const;

/** The settings of a destination that may be given when it is created and changed later. */
export class SettingsBody extends DeliverySettingsBody {
  /** Where it is, for types that have a URL. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://example.com/webhooks',
  })
  url?: string | null;

  /** Settings of its type (`queueUrl` and `region` of a queue), and `circuit_breaker: {failure_threshold}` (1 to 1000, default 10). */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { circuit_breaker: { failure_threshold: 20 } },
  })
  config?: Record<string, unknown> | null;
}

/** The destination to create. */
@Examples({
  pull: {
    summary: 'pull: a consumer fetches it. Needs no receiver',
    value: { name: 'Orders, to fetch', type: 'pull' },
  },
  https: {
    summary: 'https: signed POSTs to a URL of yours',
    value: { name: 'Orders', type: 'https', url: 'https://example.com/webhooks' },
  },
  mirror: {
    summary: 'mirror: received requests, forwarded as they came',
    value: { name: 'Orders, as they came', type: 'mirror', url: 'https://example.com/webhooks' },
  },
  sqs: {
    summary: 'sqs: messages in an Amazon SQS queue',
    value: {
      name: 'Orders queue',
      type: 'sqs',
      config: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders', region: 'eu-west-1' },
      credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    },
  },
})
export class NewDestinationBody extends SettingsBody {
  /** What people know it by. */
  @ApiProperty({ minLength: 1, maxLength: 200, example: 'Orders' })
  name: string;

  /** How it is delivered to: `https`, `mirror`, `sqs` or `pull`, or a type that an extension adds. */
  @ApiProperty({ minLength: 1, maxLength: 64, example: 'https' })
  type: string;

  /** Credentials of its type; stored encrypted and never returned. */
  @ApiPropertyOptional({ ...CREDENTIALS })
  credentials?: Record<string, string> | null;

  /** A signing secret that its receiver knows already; a new one is made when left out. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 200,
    nullable: true,
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  })
  secret?: string | null;
}

/** What to change of a destination: what is left out stays, null goes back to the default. */
@Fixed({
  type: 'cannot be changed: create another destination',
  secret: 'cannot be set: rotate it with POST …/secret/rotate',
})
@Examples({
  name: { summary: 'Another name', value: { name: 'Orders of the shop' } },
  retry: {
    summary: 'Fewer attempts, and a rate limit',
    value: { retry: { max_attempts: 5 }, rate_limit: { per_second: 50 } },
  },
  disable: { summary: 'Stop deliveries', value: { status: 'disabled' } },
  enable: { summary: 'Start them again, and close the circuit', value: { status: 'active' } },
  credentials: {
    summary: 'sqs: other credentials',
    value: {
      credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    },
  },
})
export class DestinationChangesBody extends SettingsBody {
  /** What people know it by. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 200, example: 'Orders' })
  name?: string;

  /** Other credentials, all of them; they are tried before they are stored, and never returned. */
  @ApiPropertyOptional({ ...CREDENTIALS })
  credentials?: Record<string, string> | null;

  /** `active` enables it and closes its circuit, `disabled` stops its deliveries. */
  @ApiProperty({ required: false, enum: STATUSES, example: 'active' })
  status?: 'active' | 'disabled';
}

/** A target to try. */
@Examples({
  https: { summary: 'https: does anybody answer?', value: { type: 'https', url: 'https://example.com/webhooks' } },
  sqs: {
    summary: 'sqs: is there a queue, and do the credentials fit?',
    value: {
      type: 'sqs',
      config: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders', region: 'eu-west-1' },
      credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    },
  },
})
export class CheckBody {
  /** How it would be delivered to. */
  @ApiProperty({ minLength: 1, maxLength: 64, example: 'https' })
  type: string;

  /** Where it is, for types that have a URL. */
  @ApiProperty({
    required: false,
    type: String,
    maxLength: 2048,
    nullable: true,
    example: 'https://example.com/webhooks',
  })
  url?: string | null;

  /** Settings of its type, as they would be given to create it. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/orders', region: 'eu-west-1' },
  })
  config?: Record<string, unknown> | null;

  /** Credentials of its type; used for this check and not stored. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
  })
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
@Examples({
  day: { summary: 'Both secrets sign for a day', value: { grace_seconds: 86_400 } },
  now: { summary: 'The old secret ends now', value: { grace_seconds: 0 } },
})
export class DestinationSecretRotationBody {
  /** How long the old secret goes on signing beside the new one, in seconds. */
  @ApiProperty({ required: false, type: 'integer', minimum: 0, maximum: 604_800, default: 86_400, example: 86_400 })
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

/** Credentials without a field are none. */
function someOrNull(credentials: Record<string, string> | null | undefined): Record<string, string> | null {
  return credentials && Object.keys(credentials).length > 0 ? credentials : null;
}

/** The secret as receivers are given it. */
export function presentSecret({ secret, publicKey }: ShownSecret): SigningSecretItem {
  return { secret, public_key: publicKey };
}

/** Without the detail when it says nothing. */
export function presentCheck<T extends { detail: string }>({
  detail,
  ...result
}: T): Omit<T, 'detail'> & { detail?: string } {
  return detail === '' ? result : { ...result, detail };
}

function settingsChanges({ url, config, ...delivery }: SettingsBody): SettingsChanges {
  return { url, config, ...deliveryChanges(delivery) };
}

import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Authenticator, type Identity, TokenAuthenticator } from '#kernel/authenticator.js';
import { withDeadline } from '#kernel/concurrency/deadline.js';
import { unavailable } from '#kernel/errors.js';
import { providersExtending } from '#kernel/extension-points.js';
import { parseId } from '#kernel/ids.js';
import { type Caller, SCOPES } from '#kernel/tenant.js';
import { Tenants } from '../environments/tenants.js';
import { KeyAuthenticator } from '../keys/key-authenticator.js';

/** Maximum accepted length of a submitted key. Every API key is shorter. */
const KEY_LENGTH_MAX = 512;
/** Maximum length of a token, enough for claims and signatures. Node.js accepts 16 KB of headers in total. */
const TOKEN_LENGTH_MAX = 8_192;
const IDENTIFY_MS_MAX = 5_000;
const SUBJECT_LENGTH_MAX = 200;
/** Number of characters of an invalid organization name that are written to the log. */
const ORGANIZATION_CHARACTERS_MAX = 60;

/** Authenticates API keys, and tokens that extensions verify. Without such an extension, only API keys are accepted. */
@Injectable()
export class SignIn extends Authenticator implements OnModuleInit {
  private readonly logger = new Logger('Extensions');
  private others: readonly TokenAuthenticator[] = [];

  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly discovery: DiscoveryService,
    private readonly tenants: Tenants,
  ) {
    super();
  }

  onModuleInit(): void {
    this.others = providersExtending(this.discovery, TokenAuthenticator);
  }

  override get bearerLengthMax(): number {
    return this.others.length === 0 ? KEY_LENGTH_MAX : TOKEN_LENGTH_MAX;
  }

  override authenticate(bearer: string, from: string | null = null): Caller | null | Promise<Caller | null> {
    return this.others.length === 0 || bearer.startsWith('ek_')
      ? this.keys.authenticate(bearer, from)
      : this.vouched(bearer);
  }

  private async vouched(token: string): Promise<Caller | null> {
    for (const other of this.others) {
      const identity = await this.identityFrom(other, token);
      if (identity !== null) return this.callerOf(identity, other.constructor.name);
    }
    return null;
  }

  private async identityFrom(other: TokenAuthenticator, token: string): Promise<Identity | null> {
    try {
      const returned: unknown = await withDeadline(IDENTIFY_MS_MAX, () => other.identify(token));
      if (returned === null || isIdentity(returned)) return returned;
      throw new Error('It returned no identity: { organization, mode, scope, subject }.');
    } catch (error) {
      this.logger.error(
        `The authenticator ${other.constructor.name} failed: ${error instanceof Error ? error.stack : String(error)}`,
      );
      throw unavailable('The authenticator for this token is not responding. Send the request again.');
    }
  }

  private async callerOf(
    { organization, mode, scope, subject }: Identity,
    authenticator: string,
  ): Promise<Caller | null> {
    if (parseId('org', organization) === null) {
      const quoted = JSON.stringify(organization.slice(0, ORGANIZATION_CHARACTERS_MAX));
      this.logger.error(
        `The authenticator ${authenticator} returned the organization ${quoted}, which is not an id: return \`org_…\`, as \`GET /v1/org\` shows it.`,
      );
      return null;
    }
    const tenant = await this.tenants.find(organization, mode);
    return tenant && { tenant, keyId: `token:${subject}`, scope };
  }
}

function isIdentity(returned: unknown): returned is Identity {
  if (typeof returned !== 'object' || returned === null) return false;
  const { organization, mode, scope, subject } = returned as Record<string, unknown>;
  const isNamed = typeof subject === 'string' && subject !== '' && subject.length <= SUBJECT_LENGTH_MAX;
  return (
    isNamed &&
    typeof organization === 'string' &&
    (mode === 'live' || mode === 'test') &&
    (SCOPES as readonly unknown[]).includes(scope)
  );
}

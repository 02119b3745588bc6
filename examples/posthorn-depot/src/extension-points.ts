import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AcceptancePolicy,
  Adapter,
  type AttemptReport,
  type DeliveryAnswer,
  DeliveryListener,
  DestinationAdapter,
  type Draft,
  type Fault,
  headerOf,
  type Identity,
  InboundPreset,
  NamedRetryPolicy,
  Notifications,
  type Outgoing,
  type ProbeReport,
  ProviderPreset,
  type ReceivedRequest,
  type Ruling,
  signatureHeader,
  type Submission,
  SystemEvents,
  type Target,
  TokenAuthenticator,
} from 'posthorn';
import { Tally } from './tally.js';

/** Destination type: a shelf of the depot. An event of type `shelf.removed` disables the destination. */
@Adapter()
export class ShelfAdapter extends DestinationAdapter {
  override readonly type = 'shelf';
  override readonly pulled = false;

  constructor(private readonly tally: Tally) {
    super();
  }

  check({ config }: Draft): Fault[] {
    const unknown = Object.keys(config).filter((key) => key !== 'shelf');
    const faults = unknown.map((key) => ({ path: `config.${key}`, message: 'is not known here' }));
    return typeof config['shelf'] === 'string' ? faults : [...faults, { path: 'config.shelf', message: 'is required' }];
  }

  async probe(): Promise<ProbeReport> {
    return { ok: true, detail: 'The shelf exists.' };
  }

  async deliver({ webhookId, eventType, body, atMs }: Outgoing, target: Target): Promise<DeliveryAnswer> {
    const signature = signatureHeader(target.signingKeys, webhookId, Math.floor(atMs / 1000), body, target.privateKeys);
    this.tally.records.push(`shelved ${webhookId} ${signature.slice(0, 3)}`);
    const status = eventType === 'shelf.removed' ? 410 : 200;
    return { answer: { kind: 'response', status, retryAfter: null }, durationMs: 1, excerpt: 'Shelved.' };
  }
}

/** Authenticates requests with the token `depot:` followed by the id of an organization. */
@Injectable()
export class DepotTokens extends TokenAuthenticator {
  async identify(token: string): Promise<Identity | null> {
    const [, organization] = /^depot:(org_\w+)$/.exec(token) ?? [];
    return organization === undefined ? null : { organization, mode: 'live', scope: 'read', subject: 'depot' };
  }
}

@Injectable()
export class DepotPolicy extends AcceptancePolicy {
  rule({ payload }: Submission): Ruling {
    return payload.includes('dynamite') ? { refuse: 'The depot takes no dynamite.' } : { headers: { 'x-depot': '1' } };
  }
}

@Injectable()
export class DepotRetryPolicy extends NamedRetryPolicy {
  override readonly name = 'depot';
  override readonly description = 'Retries twice.';
  override readonly maxAttempts = 3;
  override readonly scheduleSeconds = [0, 1, 1];
}

@InboundPreset()
export class CarrierPreset extends ProviderPreset {
  override readonly id = 'depot-carrier';
  override readonly title = 'Carrier';
  override readonly secret = 'The shared secret of the carrier.';
  override readonly retries = 'The carrier does not retry.';

  override verify(request: ReceivedRequest, secrets: readonly string[]): boolean {
    const given = Buffer.from(headerOf(request, 'carrier-signature') ?? '', 'hex');
    return secrets.some((secret) => {
      const expected = createHmac('sha512', secret).update(request.body).digest();
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }
}

@Injectable()
export class Attempts extends DeliveryListener {
  constructor(private readonly tally: Tally) {
    super();
  }

  override delivered({ type }: AttemptReport): void {
    this.tally.records.push(`delivered to ${type}`);
  }
}

@Injectable()
export class DestinationChanges {
  constructor(notifications: Notifications, events: SystemEvents, tally: Tally) {
    notifications.on('destination', () => void tally.records.push('a destination changed'));
    events.on('destination.disabled', async () => void tally.records.push('a destination was disabled'));
  }
}

import { createHash, randomBytes, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { oauthError } from '#http/oauth-answers.js';
import { Database } from '#kernel/database/database.js';
import { type Scope, SCOPES } from '#kernel/tenant.js';
import { GrantedKeys } from '#modules/auth/keys/granted-keys.js';
import type { IssuedToken } from './authorization.js';
import type { OAuthClient } from './client-metadata.js';
import { type Approval, GrantAudit } from './grant-audit.js';
import { type Grant, GrantNotice } from './grant-notice.js';
import { OAuthClients } from './oauth-clients.js';
import {
  type DeviceDecision,
  OAuthDevicesStore,
  type PolledDevice,
  type WaitingDevice,
} from './oauth-devices.store.js';

/**
 * Letters of user codes. Excludes vowels, to avoid words, and letters that users easily confuse (RFC 8628, section
 * 6.1).
 */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LETTERS_COUNT = 8;

/** Lifetime of the device code and the user code, in seconds. */
export const DEVICE_SECONDS = 600;
/** Minimum time between two polls of a device, in seconds. */
export const POLL_SECONDS = 5;

const DEVICE_NAME_LENGTH_MAX = 64;

export interface DeviceRequest {
  client: OAuthClient;
  address: string;
  /** The request's `scope` parameter (RFC 8628, section 3.1): scopes separated by spaces. */
  scope: string | undefined;
  /** Name of the machine that the program runs on: the parameter `device_name`, which is not part of RFC 8628. */
  deviceName: string | undefined;
}

export interface DeviceCodes {
  deviceCode: string;
  userCode: string;
}

/** The device grant (RFC 8628): a program shows a code, and the user enters it on one of Posthorn's pages. */
@Injectable()
export class DeviceGrants {
  constructor(
    private readonly clients: OAuthClients,
    private readonly devices: OAuthDevicesStore,
    private readonly keys: GrantedKeys,
    private readonly audit: GrantAudit,
    private readonly notice: GrantNotice,
    private readonly database: Database,
  ) {}

  async begin({ client, address, scope, deviceName }: DeviceRequest): Promise<DeviceCodes> {
    for (;;) {
      const deviceCode = randomBytes(32).toString('base64url');
      const letters = Array.from({ length: LETTERS_COUNT }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
      const device = {
        clientId: client.id,
        clientName: client.name,
        address,
        requestedScope: highestOf(scope),
        deviceName: plainName(deviceName),
      };
      const isAdded = await this.devices.add(sha256(deviceCode), sha256(letters), device, POLL_SECONDS, DEVICE_SECONDS);
      if (isAdded) return { deviceCode, userCode: `${letters.slice(0, 4)}-${letters.slice(4)}` };
    }
  }

  /**
   * Returns the device that shows this user code and waits for the user's approval or denial, or `null` if there is
   * none.
   */
  waiting(userCode: string): Promise<WaitingDevice | null> {
    return this.devices.waiting(sha256(normal(userCode)));
  }

  /** Approves the device that shows the user code. Returns false if no device waits for the code any longer. */
  async approve(
    userCode: string,
    { approval, ...decision }: DeviceDecision & { approval: Approval },
  ): Promise<boolean> {
    return this.database.transaction(async () => {
      const clientId = await this.devices.decide(sha256(normal(userCode)), decision);
      if (clientId === null) return false;
      await this.clients.approve(clientId);
      await this.audit.granted(approval, decision.environmentId, {
        client_id: clientId,
        scope: decision.scope,
        lifetime_seconds: decision.lifetimeSeconds,
        device: true,
      });
      return true;
    });
  }

  async deny(userCode: string): Promise<void> {
    await this.devices.decide(sha256(normal(userCode)), null);
  }

  /** Returns the API key of an approved device, only once. Otherwise throws an error of RFC 8628, section 3.5. */
  async poll(form: Readonly<Record<string, string>>): Promise<IssuedToken> {
    const { device_code: code, client_id: clientId } = form;
    if (!code || !clientId) throw oauthError('invalid_request', 'Send device_code and client_id.');
    const outcome = await this.database.transaction(async () => {
      const device = await this.devices.poll(sha256(code), clientId);
      return device !== null && isGranted(device) ? this.issue(device) : device;
    });
    if (outcome !== null && 'text' in outcome) {
      const { text, grant } = outcome;
      void this.notice.send(grant);
      return { text, scope: grant.scope, lifetimeSeconds: grant.lifetimeSeconds };
    }
    throw whyNot(outcome);
  }

  /**
   * Issues the API key. Returns `null` if the approver was removed after the approval. The device code cannot be used
   * again, even if no key was issued.
   */
  private async issue({
    environmentId,
    scope,
    clientId,
    clientName,
    deviceName,
    grantedBy,
    granter,
    lifetimeSeconds,
  }: Granted): Promise<{ text: string; grant: Grant } | null> {
    const key = await this.keys.issue({
      environmentId,
      scope,
      clientId,
      clientName,
      deviceName,
      grantedBy,
      granter,
      lifetimeSeconds,
    });
    return (
      key && {
        text: key.text,
        grant: { environmentId, keyId: key.id, scope, clientName, grantedBy, lifetimeSeconds: key.lifetimeSeconds },
      }
    );
  }
}

type Granted = PolledDevice & DeviceDecision;

function isGranted(device: PolledDevice): device is Granted {
  return device.state === 'approved' && !device.isExpired && !device.isTooSoon;
}

function whyNot(device: PolledDevice | null): Error {
  if (device === null || device.state === 'used')
    return oauthError(
      'invalid_grant',
      'The device_code is unknown or used, or does not belong to this client; or the approver no longer has the permission.',
    );
  if (device.isExpired) return oauthError('expired_token', 'The device_code has expired. Request another one.');
  if (device.state === 'denied') return oauthError('access_denied', 'The person refused.');
  if (device.isTooSoon)
    return oauthError('slow_down', 'Poll less often: wait five seconds longer between two requests from now on.');
  return oauthError('authorization_pending', 'The user has not entered the code yet.');
}

/**
 * Returns the broadest of the requested scopes. Ignores unknown scopes. Returns `null` if no requested scope is known.
 */
function highestOf(scope: string | undefined): Scope | null {
  const asked = new Set(scope?.split(' '));
  return SCOPES.findLast((one) => asked.has(one)) ?? null;
}

/** Returns the name without characters that break lines or change text direction. `null` if nothing is left. */
function plainName(name: string | undefined): string | null {
  const plain = (name ?? '').replace(/[^\p{L}\p{N} ._'-]/gu, '').trim();
  return plain === '' ? null : [...plain].slice(0, DEVICE_NAME_LENGTH_MAX).join('');
}

/** Returns the code in canonical form. Users type it in any case, with spaces or without the hyphen. */
const normal = (userCode: string): string => userCode.toUpperCase().replace(/[^A-Z0-9]/g, '');

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

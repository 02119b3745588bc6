import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Scope } from '#kernel/tenant.js';
import type { KeyGranter } from '#modules/auth/granted-keys.contract.js';
import type { OAuthDeviceEntity } from './agents.entities.js';

/**
 * A device that waits for a user's approval or denial. `requestedScope` is null if the device requested no known scope.
 * `deviceName` is unverified.
 */
export type WaitingDevice = Pick<
  OAuthDeviceEntity,
  'clientId' | 'clientName' | 'address' | 'requestedScope' | 'deviceName' | 'createdAt'
>;

export interface DeviceDecision {
  environmentId: number;
  scope: Scope;
  lifetimeSeconds: number;
  grantedBy: string;
  granter: KeyGranter;
}

/** State of a device when it polls. Contains the grant once the API key may be issued. */
export interface PolledDevice {
  state: 'pending' | 'approved' | 'denied' | 'used';
  clientId: string;
  clientName: string;
  deviceName: string | null;
  isExpired: boolean;
  isTooSoon: boolean;
  environmentId: number | null;
  scope: Scope | null;
  lifetimeSeconds: number | null;
  grantedBy: string | null;
  granter: KeyGranter;
}

const ADD: Statement = {
  name: 'oauth_devices.add',
  text: `
    insert into oauth_devices (hash, user_code_hash, client_id, client_name, address, requested_scope, device_name,
      state, interval_seconds, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, now(), now() + make_interval(secs => $9))
    on conflict (user_code_hash) do nothing returning 1`,
};

/** Uses the index `oauth_devices_user_code_key`. */
const WAITING: Statement = {
  name: 'oauth_devices.waiting',
  text: `
    select client_id as "clientId", client_name as "clientName", address, requested_scope as "requestedScope",
      device_name as "deviceName", created_at as "createdAt"
    from oauth_devices
    where user_code_hash = $1 and state = 'pending' and expires_at > now()`,
};

/** Uses the index `oauth_devices_user_code_key`. */
const DECIDE: Statement = {
  name: 'oauth_devices.decide',
  text: `
    update oauth_devices set state = case when $2::int is null then 'denied' else 'approved' end,
      granted_environment_id = $2, scope = $3, lifetime_seconds = $4, granted_by = $5, granter_member_id = $6,
        granter_key_id = $7
    where user_code_hash = $1 and state = 'pending' and expires_at > now() returning client_id as "clientId"`,
};

/**
 * Records a poll of a device. Polling too early lengthens the interval (RFC 8628, section 3.5). Only one poll receives
 * an approved grant. Uses the index `oauth_devices_pkey`.
 */
const POLL: Statement = {
  name: 'oauth_devices.poll',
  text: `
    with before as (
      select *, polled_at is not null and polled_at > now() - make_interval(secs => interval_seconds) as is_too_soon,
        expires_at <= now() as is_expired
      from oauth_devices where hash = $1 and client_id = $2 for update
    )
    update oauth_devices d set polled_at = now(),
      interval_seconds = d.interval_seconds + case when b.is_too_soon then 5 else 0 end,
      state = case when b.state = 'approved' and not b.is_expired and not b.is_too_soon then 'used' else b.state end
    from before b where d.hash = b.hash
    returning b.state, d.client_id as "clientId", d.client_name as "clientName", d.device_name as "deviceName",
      b.is_expired as "isExpired", b.is_too_soon as "isTooSoon",
      d.granted_environment_id as "environmentId", d.scope, d.lifetime_seconds as "lifetimeSeconds",
        d.granted_by as "grantedBy",
      jsonb_build_object('memberId', d.granter_member_id, 'keyId', d.granter_key_id) as granter`,
};

/** Uses the index `oauth_devices_expires_at_idx`. */
const PURGE: Statement = {
  name: 'oauth_devices.purge',
  text: `delete from oauth_devices where expires_at < now() - interval '1 day'`,
};

/** Devices that wait for a user's approval or denial, identified by the SHA-256 of their codes. */
@Injectable()
export class OAuthDevicesStore {
  constructor(private readonly database: Database) {}

  /** Adds a device. Returns false if another device already has the user code. */
  async add(
    hash: Buffer,
    userCodeHash: Buffer,
    device: Omit<WaitingDevice, 'createdAt'>,
    intervalSeconds: number,
    validSeconds: number,
  ): Promise<boolean> {
    const { clientId, clientName, address, requestedScope, deviceName } = device;
    return (
      (
        await this.database.query(ADD, [
          hash,
          userCodeHash,
          clientId,
          clientName,
          address,
          requestedScope,
          deviceName,
          intervalSeconds,
          validSeconds,
        ])
      ).length > 0
    );
  }

  async waiting(userCodeHash: Buffer): Promise<WaitingDevice | null> {
    const [found] = await this.database.query<WaitingDevice>(WAITING, [userCodeHash]);
    return found ?? null;
  }

  /**
   * Stores the approval (or null for a denial). Returns the client, or `null` if no waiting device has the user code.
   */
  async decide(userCodeHash: Buffer, decision: DeviceDecision | null): Promise<string | null> {
    const {
      environmentId = null,
      scope = null,
      lifetimeSeconds = null,
      grantedBy = null,
      granter = { memberId: null, keyId: null },
    } = decision ?? {};
    const [decided] = await this.database.query<{ clientId: string }>(DECIDE, [
      userCodeHash,
      environmentId,
      scope,
      lifetimeSeconds,
      grantedBy,
      granter.memberId,
      granter.keyId,
    ]);
    return decided?.clientId ?? null;
  }

  /** Records a poll, in the caller's transaction. Returns `null` if the client has no such device. */
  async poll(hash: Buffer, clientId: string): Promise<PolledDevice | null> {
    const [polled] = await this.database.query<PolledDevice>(POLL, [hash, clientId]);
    return polled ?? null;
  }

  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}

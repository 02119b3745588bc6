import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { formatPublicKey, formatSecret, parseSecret, privateKeyOf, SEED_BYTES } from '#engine/signing.js';
import { Clock } from '#kernel/clock.js';
import { sealedIn, Vault } from '#kernel/crypto/vault.js';
import { Database } from '#kernel/database/database.js';
import { type Fault, invalid, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { ShownSecret, Target } from '#modules/destinations/contract.js';
import type { DestinationEntity } from './destinations.entities.js';
import { DestinationsStore, type Whose } from './destinations.store.js';
import type { Settings, SettingsChanges } from './settings.js';

export type SecretColumns = Pick<
  DestinationEntity,
  'secret' | 'previousSecret' | 'previousSecretUntil' | 'privateKey' | 'previousPrivateKey' | 'legacySecret'
>;

export type SigningKeys = Pick<Target, 'signingKeys' | 'privateKeys'>;

export interface OpenedKeys {
  current: SigningKeys;
  /** Current and previous keys, which both sign until a rotation's grace period ends. `null` without previous keys. */
  both: SigningKeys | null;
  graceUntilMs: number;
  legacySignature: Target['legacySignature'];
}

type Place = Pick<DestinationEntity, 'environmentId' | 'id'>;
type Column = 'secret' | 'previous_secret' | 'credentials' | 'private_key' | 'previous_private_key' | 'legacy_secret';

const KEY_BYTES = 32;

/** Signing keys and credentials of destinations. They are stored encrypted, and only this class decrypts them. */
@Injectable()
export class DestinationSecrets {
  constructor(
    private readonly store: DestinationsStore,
    private readonly vault: Vault,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Returns a new destination's secret columns: `given`, or a generated secret. Throws 422 if `given` is malformed. */
  begin(
    place: Place,
    given: string | null,
    { asymmetric }: Pick<Settings, 'asymmetric'>,
    { legacyKey }: SettingsChanges,
  ): SecretColumns {
    return {
      secret: this.seal(place, 'secret', given === null ? randomBytes(KEY_BYTES) : givenKey(given)),
      previousSecret: null,
      previousSecretUntil: null,
      privateKey: asymmetric ? this.newSeed(place) : null,
      previousPrivateKey: null,
      legacySecret: legacyKey ? this.seal(place, 'legacy_secret', legacyKey) : null,
    };
  }

  /**
   * Returns the secret columns that new settings change. Adds missing keys and removes keys that are no longer needed.
   */
  following(
    row: DestinationEntity,
    { asymmetric, legacySignature }: Settings,
    { legacyKey }: SettingsChanges,
  ): Partial<SecretColumns> {
    const columns: Partial<SecretColumns> = {};
    if (!asymmetric) Object.assign(columns, { privateKey: null, previousPrivateKey: null });
    else if (row.privateKey === null) columns.privateKey = this.newSeed(row);
    if (legacySignature === null) columns.legacySecret = null;
    else if (legacyKey) columns.legacySecret = this.seal(row, 'legacy_secret', legacyKey);
    return columns;
  }

  /** Returns the decrypted signing keys. The caller checks whether the previous keys' grace period is over. */
  open(row: DestinationEntity): OpenedKeys {
    const signingKeys = [this.current(row)];
    const privateKeys = row.privateKey ? [privateKeyOf(this.opened(row, 'private_key', row.privateKey))] : [];
    const previous = row.previousSecret && this.opened(row, 'previous_secret', row.previousSecret);
    const previousSeed = row.previousPrivateKey && this.opened(row, 'previous_private_key', row.previousPrivateKey);
    const { legacySignature: scheme, legacySecret } = row;
    return {
      current: { signingKeys, privateKeys },
      both: previous && {
        signingKeys: [...signingKeys, previous],
        privateKeys: previousSeed ? [...privateKeys, privateKeyOf(previousSeed)] : privateKeys,
      },
      graceUntilMs: row.previousSecretUntil?.getTime() ?? -Infinity,
      legacySignature: scheme && legacySecret && { ...scheme, key: this.opened(row, 'legacy_secret', legacySecret) },
    };
  }

  /** Returns the signing secret of a destination. Throws 404 if the destination does not exist. */
  async show(tenant: Tenant, id: Id, whose: Whose = 'listed'): Promise<ShownSecret> {
    const row = await this.store.find(tenant.environmentId, id, whose);
    if (row === null) throw noSuch('destination');
    return this.shown(row);
  }

  /**
   * Generates new keys. The previous keys also sign for another `graceMs`. Older keys stop signing. Throws 404 if the
   * destination does not exist.
   */
  rotate(tenant: Tenant, id: Id, graceMs: number, whose: Whose = 'listed'): Promise<ShownSecret> {
    return this.database.transaction(async () => {
      const row = await this.store.findForUpdate(tenant.environmentId, id, whose);
      if (row === null) throw noSuch('destination');
      const columns: Partial<SecretColumns> = {
        secret: this.seal(row, 'secret', randomBytes(KEY_BYTES)),
        privateKey: row.privateKey && this.newSeed(row),
        // The keys are encrypted again, because a value can be decrypted only in the column that it was encrypted for.
        previousSecret: this.seal(row, 'previous_secret', this.current(row)),
        previousPrivateKey:
          row.privateKey && this.seal(row, 'previous_private_key', this.opened(row, 'private_key', row.privateKey)),
        previousSecretUntil: new Date(this.clock.nowMs() + graceMs),
      };
      await this.store.update(tenant.environmentId, id, columns);
      return this.shown({ ...row, ...columns });
    });
  }

  sealCredentials(place: Place, credentials: Record<string, string> | null): Buffer | null {
    return credentials && this.seal(place, 'credentials', JSON.stringify(credentials));
  }

  openCredentials(row: Place & Pick<DestinationEntity, 'credentials'>): Record<string, string> | null {
    if (row.credentials === null) return null;
    return JSON.parse(this.opened(row, 'credentials', row.credentials).toString()) as Record<string, string>;
  }

  private shown(row: DestinationEntity): ShownSecret {
    const publicKey = row.privateKey && formatPublicKey(privateKeyOf(this.opened(row, 'private_key', row.privateKey)));
    return { secret: formatSecret(this.current(row)), publicKey };
  }

  private newSeed(place: Place): Buffer {
    return this.seal(place, 'private_key', randomBytes(SEED_BYTES));
  }

  private current(row: Pick<SecretColumns, 'secret'> & Place): Buffer {
    return this.opened(row, 'secret', row.secret);
  }

  private seal(place: Place, column: Column, plaintext: Buffer | string): Buffer {
    return this.vault.seal(plaintext, sealed(place, column));
  }

  private opened(place: Place, column: Column, value: Buffer): Buffer {
    return this.vault.open(value, sealed(place, column));
  }
}

export function legacyKeyFaults(
  { legacySignature }: Settings,
  { legacyKey }: SettingsChanges,
  stored: Buffer | null,
): Fault[] {
  const lacks = legacySignature !== null && !legacyKey && stored === null;
  return lacks ? [{ path: 'legacy_signature.secret', message: 'is required: there is none yet' }] : [];
}

function sealed({ environmentId, id }: Place, column: Column): string {
  return sealedIn({ table: 'destinations', environmentId, id, column });
}

function givenKey(secret: string): Buffer {
  try {
    return parseSecret(secret);
  } catch {
    throw invalid([{ path: 'secret', message: 'must be whsec_ and the padded base64 of 24 to 64 bytes' }]);
  }
}

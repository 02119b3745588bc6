import fc from 'fast-check';
import { DEFAULT_LEGACY_SCHEME } from '#engine/legacy-signature.js';
import type { LegacySignatureSettings } from '#modules/destinations/contract.js';
import { deliveryChanges, shownSettings } from './delivery-settings.js';
import type { DestinationEntity } from './destinations.entities.js';
import type { RetryPolicies } from './retry-policies.js';
import { changed, DEFAULT_SETTINGS, retryPolicy } from './settings.js';

const NUMBERS = { forSettings: retryPolicy, absence: () => null } as unknown as RetryPolicies;

const legacy = (given: Partial<LegacySignatureSettings>): ReturnType<typeof deliveryChanges> =>
  deliveryChanges({ legacy_signature: { header: 'X-Old', ...given } });

describe('deliveryChanges', () => {
  it('omitted fields stay omitted, and null is passed on', () => {
    expect(changed({ ...DEFAULT_SETTINGS, name: 'A', concurrency: 3 }, deliveryChanges({}))).toEqual({
      ...DEFAULT_SETTINGS,
      name: 'A',
      concurrency: 3,
    });
    expect(deliveryChanges({ concurrency: null, legacy_signature: null })).toMatchObject({
      concurrency: null,
      legacySignature: null,
    });
  });

  it('adds the defaults of a legacy signature, and presents it without its secret', () => {
    const { legacySignature, legacyKey } = legacy({ secret: 'old', timestamp_header: null, format: 'v1={signature}' });

    expect(legacySignature).toEqual({ ...DEFAULT_LEGACY_SCHEME, header: 'X-Old', format: 'v1={signature}' });
    expect(legacyKey).toEqual(Buffer.from('old'));
    const row = { ...DEFAULT_SETTINGS, name: 'A', legacySignature } as unknown as DestinationEntity;
    expect(shownSettings(row, NUMBERS).legacy_signature).toEqual({
      header: 'X-Old',
      algorithm: 'sha256',
      encoding: 'hex',
      content: '{body}',
      format: 'v1={signature}',
      timestamp_header: null,
      id_header: null,
    });
  });

  it('keeps the stored key if none is given', () => {
    expect(legacy({}).legacyKey).toBeUndefined();
  });

  it('decodes keys in every encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.constantFrom('hex', 'base64'), (bytes, encoding) => {
        const key = Buffer.from(bytes);

        expect(legacy({ secret: key.toString(encoding), secret_encoding: encoding }).legacyKey).toEqual(key);
      }),
    );
  });

  it('accepts upper-case hex', () => {
    expect(legacy({ secret: 'AbCD', secret_encoding: 'hex' }).legacyKey).toEqual(Buffer.from([0xab, 0xcd]));
  });

  it.each<[string, Partial<LegacySignatureSettings>]>([
    ['half a byte', { secret: 'abc', secret_encoding: 'hex' }],
    ['non-hex characters', { secret: 'abxx', secret_encoding: 'hex' }],
    ['base64 without padding', { secret: 'YQ', secret_encoding: 'base64' }],
    ['base64url', { secret: '-_-_', secret_encoding: 'base64' }],
    ['nothing', { secret: '', secret_encoding: 'utf8' }],
    ['half a surrogate pair', { secret: '\ud800' }],
    ['an encoding without a secret', { secret_encoding: 'utf8' }],
  ])('rejects %s without repeating the secret', (_what, given) => {
    expect(() => legacy(given)).toThrow(/legacy_signature\.secret/);
    if (given.secret) expect(() => legacy(given)).not.toThrow(given.secret);
  });
});

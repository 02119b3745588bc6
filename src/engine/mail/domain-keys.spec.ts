import {
  afterKeysFound,
  algorithmIn,
  backToPlatform,
  type DomainKey,
  type DomainSigner,
  freeSelectors,
  GRACE_SECONDS_DEFAULT,
  hasOwnKeys,
  publishedKeys,
} from './domain-keys.js';

const NOW_MS = Date.parse('2026-11-21T09:30:00Z');
const LATER = new Date(NOW_MS + 3_600_000);
const PLATFORM: DomainSigner = { dkimSigner: 'platform', platformDkimUntil: null };
const DOMAIN: DomainSigner = { dkimSigner: 'domain', platformDkimUntil: null };

function key(selector: string, state: DomainKey['state'], more: Partial<DomainKey> = {}): DomainKey {
  const algorithm = selector.startsWith('phe') ? 'ed25519' : 'rsa-2048';
  return { selector, algorithm, publicKey: selector, state, graceSeconds: 3_600, requiredUntil: null, ...more };
}

const stateOf = (keys: readonly DomainKey[]): string =>
  keys.map(({ selector, state }) => `${selector} ${state}`).join(', ');

describe('freeSelectors', () => {
  const selectorsOf = (keys: readonly DomainKey[]) => freeSelectors(keys, ['rsa-2048', 'ed25519'], NOW_MS);

  it.each<[string, DomainKey[], string[]]>([
    ['without keys, the first ones', [], ['phr1', 'phe1']],
    ['beside signing keys, the other ones', [key('phr1', 'signing'), key('phe1', 'signing')], ['phr2', 'phe2']],
    ['in place of pending keys', [key('phr1', 'signing'), key('phr2', 'pending')], ['phr2', 'phe1']],
    [
      'in place of a retired key that is no longer needed',
      [key('phr1', 'signing'), key('phr2', 'retiring', { requiredUntil: new Date(NOW_MS) })],
      ['phr2', 'phe1'],
    ],
  ])('%s', (_what, keys, selectors) => {
    expect(selectorsOf(keys)).toEqual({
      selectors: new Map([
        ['rsa-2048', selectors[0]],
        ['ed25519', selectors[1]],
      ]),
    });
  });

  it('none while the previous key is still needed, with the time at which that ends', () => {
    expect(selectorsOf([key('phr1', 'signing'), key('phr2', 'retiring', { requiredUntil: LATER })])).toEqual({
      occupiedUntil: LATER,
    });
  });

  it('none while both selectors have retiring keys, with the earlier time of the two', () => {
    const latest = new Date(LATER.getTime() + 1);

    expect(
      selectorsOf([
        key('phr1', 'retiring', { requiredUntil: latest }),
        key('phr2', 'retiring', { requiredUntil: LATER }),
      ]),
    ).toEqual({ occupiedUntil: LATER });
  });
});

describe('publishedKeys', () => {
  const published = (signer: DomainSigner, keys: readonly DomainKey[]): string => {
    const { hasPlatformKeys, own } = publishedKeys(signer, keys, NOW_MS);
    return [
      hasPlatformKeys ? 'platform' : 'no platform',
      ...own.map(({ selector, required }) => `${selector}${required ? '' : '?'}`),
    ].join(' ');
  };

  it.each<[string, DomainSigner, DomainKey[], string]>([
    ["the platform's keys sign", PLATFORM, [], 'platform'],
    ['own keys will replace them', PLATFORM, [key('phr1', 'pending')], 'platform phr1?'],
    ['own keys are the first ones', DOMAIN, [key('phr1', 'pending')], 'no platform phr1'],
    [
      "own keys replaced the platform's",
      { ...DOMAIN, platformDkimUntil: LATER },
      [key('phr1', 'signing')],
      'platform phr1',
    ],
    [
      "the platform's records are no longer needed",
      { ...DOMAIN, platformDkimUntil: new Date(NOW_MS) },
      [key('phr1', 'signing')],
      'no platform phr1',
    ],
    [
      'a rotation waits for its record',
      DOMAIN,
      [key('phr1', 'signing'), key('phr2', 'pending')],
      'no platform phr1 phr2?',
    ],
    [
      'a rotated key is in transit',
      DOMAIN,
      [key('phr1', 'retiring', { requiredUntil: LATER }), key('phr2', 'signing')],
      'no platform phr1 phr2',
    ],
    [
      'a rotated key is no longer needed',
      DOMAIN,
      [key('phr1', 'retiring', { requiredUntil: new Date(NOW_MS) }), key('phr2', 'signing')],
      'no platform phr2',
    ],
  ])('%s', (_what, signer, keys, expected) => {
    expect(published(signer, keys)).toBe(expected);
  });
});

describe('afterKeysFound', () => {
  const change = (signer: DomainSigner, keys: DomainKey[], found: string[]) =>
    afterKeysFound(signer, keys, new Set(found), NOW_MS);

  it("pending keys start to sign together, and the platform's records stay required for the grace period", () => {
    const keys = [key('phr1', 'pending'), key('phe1', 'pending')];

    expect(change(PLATFORM, keys, ['phr1'])).toBeNull();
    const after = change(PLATFORM, keys, ['phr1', 'phe1']);
    expect(stateOf(after?.keys ?? [])).toBe('phr1 signing, phe1 signing');
    expect(after?.signer).toEqual({ dkimSigner: 'domain', platformDkimUntil: LATER });
  });

  it('the previous keys retire for the grace period of the new ones', () => {
    const after = change(DOMAIN, [key('phr1', 'signing'), key('phr2', 'pending')], ['phr2']);

    expect(after).toMatchObject({
      signer: DOMAIN,
      keys: [
        { selector: 'phr1', state: 'retiring', requiredUntil: LATER },
        { selector: 'phr2', state: 'signing', requiredUntil: null },
      ],
    });
  });

  it('without a grace period, the previous keys are dropped', () => {
    const after = change(DOMAIN, [key('phr1', 'signing'), key('phr2', 'pending', { graceSeconds: 0 })], ['phr2']);

    expect(stateOf(after?.keys ?? [])).toBe('phr2 signing');
  });

  it('nothing changes without a pending key', () => {
    expect(change(DOMAIN, [key('phr1', 'signing')], ['phr1'])).toBeNull();
  });
});

describe('backToPlatform', () => {
  it('drops pending keys and retires signing ones', () => {
    const { signer, keys } = backToPlatform([key('phr1', 'signing'), key('phr2', 'pending')], NOW_MS);

    expect(signer).toEqual(PLATFORM);
    expect(keys).toMatchObject([
      { selector: 'phr1', state: 'retiring', requiredUntil: new Date(NOW_MS + GRACE_SECONDS_DEFAULT * 1_000) },
    ]);
    expect(hasOwnKeys(keys)).toBe(false);
  });
});

describe('algorithmIn', () => {
  it.each<[string, DomainKey[]]>([
    ['rsa-2048', []],
    ['rsa-2048', [key('phr1', 'signing'), key('phe1', 'retiring')]],
    ['rsa-2048+ed25519', [key('phr1', 'signing'), key('phe1', 'signing')]],
    ['rsa-2048', [key('phr1', 'signing'), key('phe1', 'signing'), key('phr2', 'pending')]],
  ])('%s', (algorithm, keys) => {
    expect(algorithmIn(keys)).toBe(algorithm);
  });
});

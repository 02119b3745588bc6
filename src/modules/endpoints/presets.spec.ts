import type { DiscoveryService } from '@nestjs/core';
import { PRESETS } from '#engine/inbound/presets.js';
import { InboundPreset, ProviderPreset } from './presets.contract.js';
import { Presets } from './presets.js';

class AcmePreset extends ProviderPreset {
  override readonly id = 'acme';
  override readonly title = 'Acme';
  override readonly secret = 'Any text.';
  override readonly retries = 'Never.';
  override readonly verification = 'hmac-sha256';
}

/** Returns the presets of a service with these `@InboundPreset()` providers. */
function started(...instances: object[]): Presets {
  const discovery = {
    getProviders: () => instances.map((instance) => ({ instance, name: instance.constructor.name })),
    getMetadataByDecorator: (decorator: unknown) => (decorator === InboundPreset ? {} : undefined),
  };
  const presets = new Presets(discovery as unknown as DiscoveryService);
  presets.onModuleInit();
  return presets;
}

const acme = (fields: object): AcmePreset => Object.assign(new AcmePreset(), fields);

describe('Presets', () => {
  it('lists the built-in presets, and then those of extensions', () => {
    const presets = started(acme({ verificationConfig: { header: 'X-Acme' }, urlCheck: ['HEAD'] }));

    expect([...presets.all()].map(({ id }) => id)).toEqual([...PRESETS.keys(), 'acme']);
    expect(presets.find('acme')).toMatchObject({
      title: 'Acme',
      verify: { kind: 'hmac', hash: 'sha256', headers: ['x-acme'] },
      urlCheck: ['HEAD'],
      retry: { note: 'Never.' },
    });
    expect(presets.find('other')).toBeNull();
  });

  it.each<[string, object, RegExp]>([
    ['has an invalid id', { id: 'Acme Pay' }, /its id must be/],
    [
      'has the id of a built-in preset',
      { id: 'stripe' },
      /There is already a preset "stripe": rename that of AcmePreset/,
    ],
    ['has the id of a verification', { id: 'bearer' }, /is the name of a verification/],
    ['has no description of its secret', { secret: '' }, /secret must have/],
    ['has an unknown verification', { verification: 'md5' }, /verification must be one of/],
    ['has a wrong setting', { verificationConfig: { algorithm: 'x' } }, /verificationConfig\.algorithm/],
    ['has a verification and a verifier', { verify: () => true }, /either verification or a verify method/],
    ['has neither of them', { verification: null }, /either verification or a verify method/],
    ['has a wrong recipe', { eventType: [[{ path: 'type' }]] }, /eventType must be/],
    ['has no recipe', { eventType: [] }, /eventType must be/],
    ['has a wrong method', { urlCheck: ['POST'] }, /urlCheck must be/],
    ['has a wrong header', { secretHeaders: [7] }, /secretHeaders must be/],
    ['has a wrong response', { response: { type: 'echo' } }, /response\.type/],
    ['has a wrong sample', { sample: { headers: {}, body: 7 } }, /sample must have/],
  ])('the start fails, and names the class, if a preset %s', (_what, fields, reason) => {
    expect(() => started(acme(fields))).toThrow(reason);
    expect(() => started(acme(fields))).toThrow(/AcmePreset/);
  });

  it('the start fails if two presets have the same id, or a marked class is no preset', () => {
    expect(() => started(new AcmePreset(), new AcmePreset())).toThrow(/There is already a preset "acme"/);
    expect(() => started({})).toThrow(/does not extend ProviderPreset/);
  });
});

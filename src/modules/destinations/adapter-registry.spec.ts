import { Module, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { ApiError } from '#kernel/errors.js';
import { Adapter, type DeliveryAnswer, DestinationAdapter, type ProbeReport } from '#modules/destinations/contract.js';
import { AdapterRegistry } from './adapter-registry.js';

abstract class Quiet extends DestinationAdapter {
  override readonly pulled = false;
  override check = (): [] => [];
  override probe = (): Promise<ProbeReport> => Promise.resolve({ ok: true, detail: '' });
  override deliver = (): Promise<DeliveryAnswer> => Promise.reject(new Error('not in this test'));
}

@Adapter()
class HttpsAdapter extends Quiet {
  override readonly type = 'https';
}

@Adapter()
class KafkaAdapter extends Quiet {
  override readonly type = 'kafka';
}

@Adapter()
class OtherHttpsAdapter extends Quiet {
  override readonly type = 'https';
}

@Adapter()
class Impostor {}

@Module({ providers: [HttpsAdapter] })
class BuiltIn {}

async function start(extra: Type[]): Promise<AdapterRegistry> {
  @Module({ providers: extra })
  class Extension {}
  const module = await Test.createTestingModule({
    imports: [DiscoveryModule, BuiltIn, Extension],
    providers: [AdapterRegistry],
  }).compile();
  await module.init();
  return module.get(AdapterRegistry);
}

describe('AdapterRegistry', () => {
  it('finds the adapters of every module, including extensions', async () => {
    const registry = await start([KafkaAdapter]);

    expect(registry.require('https')).toBeInstanceOf(HttpsAdapter);
    expect(registry.require('kafka')).toBeInstanceOf(KafkaAdapter);
    expect(registry.refusal('kafka')).toBeNull();
  });

  it('the start fails with two adapters for one type, and the error names both', async () => {
    await expect(start([OtherHttpsAdapter])).rejects.toThrow(
      /"https" has two adapters: HttpsAdapter and OtherHttpsAdapter/,
    );
  });

  it('the start fails with a marked class that is not an adapter', async () => {
    await expect(start([Impostor])).rejects.toThrow(
      'Impostor is marked @Adapter() but does not extend DestinationAdapter',
    );
  });

  it.each(['sns', 'pubsub', 'azure', 'kafka', 'nats', 'amqp', 'redis'])(
    'rejects %s with 422 and the message of the specification',
    async (type) => {
      const sentence = `${type} delivery isn't supported yet`;
      const registry = await start([]);

      expect(registry.refusal(type)).toBe(sentence);
      expect(refusalOf(registry, type)).toEqual([
        'validation_failed',
        sentence,
        { check: 'schema', fields: [{ path: 'type', message: sentence }] },
      ]);
    },
  );

  it('rejects an unknown type with 422 and names the known types', async () => {
    const registry = await start([]);

    const [type, message] = refusalOf(registry, 'fax');

    expect(registry.knows('fax')).toBe(false);
    expect(type).toBe('validation_failed');
    expect(message).toMatch(/^type: must be one of https, sns/);
  });

  it('names the type of an extension once, also if the specification names it', async () => {
    const registry = await start([KafkaAdapter]);

    const [, message] = refusalOf(registry, 'fax');

    expect(message).toBe('type: must be one of https, kafka, sns, pubsub, azure, nats, amqp, redis');
  });
});

function refusalOf(registry: AdapterRegistry, type: string): unknown[] {
  try {
    registry.require(type);
  } catch (error) {
    if (error instanceof ApiError) return [error.type, error.message, error.details];
    throw error;
  }
  return ['served'];
}

import type { DiscoveryService } from '@nestjs/core';
import { ApiError } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { CHUNK_BYTES } from './chunks.js';
import { NamedBlobStore, type Swept } from './contract.js';
import { ExtensionBlobs } from './extension-blobs.js';

const KEY = { environmentId: 1, id: '01890000-0000-7000-8000-000000000000' as Id };

class MemoryBlobs extends NamedBlobStore {
  readonly name = 'memory';
  readonly swept: number[] = [];
  chunks: Buffer[] = [];
  isEnded = false;

  async put(): Promise<void> {}

  async read(): Promise<AsyncIterable<Buffer>> {
    return this.stored();
  }

  async remove(): Promise<void> {}

  async sweep(beforeDay: number, mayGoOn: () => boolean): Promise<Swept> {
    this.swept.push(beforeDay);
    return { removed: 1, isMore: mayGoOn() };
  }

  private async *stored(): AsyncGenerator<Buffer> {
    try {
      yield* this.chunks;
    } finally {
      this.isEnded = true;
    }
  }
}

function arrange(callMsMax = 1_000): { memory: MemoryBlobs; blobs: ExtensionBlobs } {
  const memory = new MemoryBlobs();
  Object.defineProperty(memory, 'callMsMax', { value: callMsMax });
  const discovery = {
    getProviders: () => [{ instance: memory, name: 'MemoryBlobs' }],
    getMetadataByDecorator: () => ({}),
  } as unknown as DiscoveryService;
  const blobs = new ExtensionBlobs('memory', discovery);
  blobs.onModuleInit();
  return { memory, blobs };
}

describe('ExtensionBlobs', () => {
  it('returns chunks of at most 256 KB, whatever sizes the extension returns', async () => {
    const { memory, blobs } = arrange();
    memory.chunks = [Buffer.alloc(0), Buffer.alloc(CHUNK_BYTES * 2 + 1, 1), Buffer.alloc(0), Buffer.from('end')];
    const sizes: number[] = [];

    for await (const chunk of (await blobs.read(KEY)) ?? []) sizes.push(chunk.length);

    expect(sizes).toEqual([CHUNK_BYTES, CHUNK_BYTES, 1, 3]);
  });

  it("ends the extension's iterator if the reader stops", async () => {
    const { memory, blobs } = arrange();
    memory.chunks = [Buffer.from('a'), Buffer.from('b')];

    for await (const chunk of (await blobs.read(KEY)) ?? []) {
      expect(chunk.toString()).toBe('a');
      break;
    }

    await new Promise(setImmediate);
    expect(memory.isEnded).toBe(true);
  });

  it.each<[string, unknown[]]>([
    ['first', ['text']],
    ['second', [Buffer.from('a'), 'text']],
  ])("ends the extension's iterator if its %s chunk is not a Buffer", async (_, chunks) => {
    const { memory, blobs } = arrange();
    memory.chunks = chunks as Buffer[];

    const reading = async (): Promise<void> => {
      for await (const chunk of (await blobs.read(KEY)) ?? []) expect(chunk.toString()).toBe('a');
    };

    await expect(reading()).rejects.toBeInstanceOf(ApiError);
    await new Promise(setImmediate);
    expect(memory.isEnded).toBe(true);
  });

  it("ends the extension's iterator after a read that took too long", async () => {
    const { memory, blobs } = arrange(20);
    let arrive = (_chunk: Buffer): void => undefined;
    memory.chunks = [new Promise<Buffer>((resolve) => (arrive = resolve))] as unknown as Buffer[];

    await expect(blobs.read(KEY)).rejects.toBeInstanceOf(ApiError);
    arrive(Buffer.from('a'));
    await new Promise(setImmediate);

    expect(memory.isEnded).toBe(true);
  });

  it('returns nothing for an offset at the end', async () => {
    const { blobs } = arrange();
    const read: Buffer[] = [];

    for await (const chunk of (await blobs.read(KEY, 7)) ?? []) read.push(chunk);

    expect(read).toEqual([]);
  });

  it('passes on the day and the time limit of a sweep', async () => {
    const { memory, blobs } = arrange();

    expect(await blobs.sweep(20_000, () => true)).toEqual({ isMore: true });
    expect(await blobs.sweep(20_001, () => false)).toEqual({ isMore: false });
    expect(memory.swept).toEqual([20_000, 20_001]);
  });

  it('throws 503 before the start has found the store', async () => {
    const blobs = new ExtensionBlobs('memory', {} as DiscoveryService);

    await expect(blobs.remove(KEY)).rejects.toBeInstanceOf(ApiError);
  });

  it.each([0, 1.5, 600_001])('rejects the time limit %s', (callMsMax) => {
    expect(() => arrange(callMsMax)).toThrow('callMsMax of MemoryBlobs must be an integer from 1 to 600000.');
  });
});

import { Logger } from '@nestjs/common';
import type { Clock } from '../clock.js';
import { ConfigError } from '../config/config.js';
import type { Notifications } from '../database/notifications.js';
import { firstDataKey } from './data-key.js';
import { Keyring } from './keyring.js';
import type { KeyringStore, SealedValue, WrappedKey } from './keyring.store.js';
import { sealValue } from './sealed-value.js';
import { Vault } from './vault.js';

const MASTER_KEY = Buffer.alloc(32, 7);
const OTHER_KEY = Buffer.alloc(32, 8);
const CONTEXT = 'environments|1||secret';

/** A context and a value encrypted for it. The last release without data keys encrypted the value with MASTER_KEY. */
const SEALED_BY_VERSION_1 = {
  context: 'destinations|1|0190f0a0-0000-0000-0000-000000000001|secret',
  sealed: Buffer.from(
    '01cafebabefacedbaddecaf888c1bfe73a791b5eb4f774a9ef5655be8e038c38432ec86c21097d954760bbd635d4f4b851802a67',
    'hex',
  ),
};

class Installation {
  rows: WrappedKey[] = [];
  oldest: SealedValue | null = null;
  isAway = false;
  reads = 0;
  isHearing = true;
  nowMs = 1_000_000;
  private readonly listeners: (() => void)[] = [];
  private queue: Promise<unknown> = Promise.resolve();

  process(masterKey = MASTER_KEY): Keyring {
    return new Keyring(this.store(), this.notifications(), { masterKey }, {
      nowMs: () => this.nowMs,
    } as unknown as Clock);
  }

  async started(masterKey = MASTER_KEY): Promise<Keyring> {
    const keyring = this.process(masterKey);
    await keyring.load();
    return keyring;
  }

  private store(): KeyringStore {
    return {
      list: async () => {
        this.reads += 1;
        if (this.isAway) throw new Error('away');
        return [...this.rows];
      },
      locked: <T>(work: () => Promise<T>) => {
        const turn = this.queue.then(async () => {
          const before = [...this.rows];
          try {
            return await work();
          } catch (error) {
            this.rows = before;
            throw error;
          }
        });
        this.queue = turn.catch(() => undefined);
        return turn;
      },
      insert: async (row: WrappedKey) => {
        if (!this.rows.some(({ id }) => id === row.id)) this.rows = [...this.rows, row];
      },
      replace: async (rows: readonly WrappedKey[]) => {
        this.rows = this.rows.map((row) => rows.find(({ id }) => id === row.id) ?? row);
      },
      oldestSecret: async () => this.oldest,
    } as unknown as KeyringStore;
  }

  private notifications(): Notifications {
    return {
      on: (_topic: string, listener: () => void) => void this.listeners.push(listener),
      announce: async () => {
        if (this.isHearing) for (const listener of this.listeners) listener();
      },
    } as unknown as Notifications;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function refusal(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => Promise.reject(new Error('It went well.')),
    (error: Error) => error,
  );
}

beforeAll(() => Logger.overrideLogger(false));

describe('the first start', () => {
  it('stores the key of version 1 as number 0, and seals with a random one', async () => {
    const installation = new Installation();

    const keyring = await installation.started();

    expect(installation.rows.map(({ id }) => id)).toEqual([0, 1]);
    expect(keyring.find(0)).toEqual(firstDataKey(MASTER_KEY));
    expect(keyring.newest().id).toBe(1);
    expect(new Vault(keyring).open(SEALED_BY_VERSION_1.sealed, SEALED_BY_VERSION_1.context).toString()).toBe(
      'sealed before data keys',
    );
    expect((await new Installation().started()).newest().key).not.toEqual(keyring.newest().key);
  });

  it('of several processes at once results in the same keys', async () => {
    const installation = new Installation();

    const keyrings = await Promise.all(Array.from({ length: 5 }, () => installation.started()));

    expect(installation.rows).toHaveLength(2);
    expect(new Set(keyrings.map((keyring) => keyring.newest().key.toString('hex'))).size).toBe(1);
  });

  it('with a wrong MASTER_KEY on a used database stores nothing, so the right one still works', async () => {
    const installation = new Installation();
    installation.oldest = SEALED_BY_VERSION_1;

    const error = await refusal(installation.started(OTHER_KEY));

    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toMatch(/^MASTER_KEY is not the one that this database is locked with: .+\.$/);
    expect(installation.rows).toEqual([]);
    expect((await installation.started()).newest().id).toBe(1);
  });

  it('with values of lost data keys reports what is missing', async () => {
    const installation = new Installation();
    installation.oldest = { context: CONTEXT, sealed: sealValue({ id: 1, key: OTHER_KEY }, 'a', CONTEXT) };

    expect((await refusal(installation.started())).message).toMatch(/^The table data_keys is empty/);
    expect(installation.rows).toEqual([]);
  });
});

describe('a later start', () => {
  it('loads the same keys', async () => {
    const installation = new Installation();
    const [first, second] = [await installation.started(), await installation.started()];

    expect(second.newest()).toEqual(first.newest());
    expect(second.derived('cursors')).toEqual(first.derived('cursors'));
  });

  it('with a wrong MASTER_KEY fails in one line that names the variable and no key', async () => {
    const installation = new Installation();
    await installation.started();

    const { message } = await refusal(installation.started(OTHER_KEY));

    expect(message).toBe(
      'MASTER_KEY is not the one that this database is locked with: set that one (after a rotation, the new one).',
    );
  });

  it('with a data key in the row of another one also fails', async () => {
    const installation = new Installation();
    await installation.started();
    installation.rows = installation.rows.map(({ id, wrapped }) => ({ id: 1 - id, wrapped }));

    expect(await refusal(installation.started())).toBeInstanceOf(ConfigError);
  });

  it('is required before anything is sealed', () => {
    expect(() => new Installation().process().newest()).toThrow('The data keys are not loaded yet.');
  });
});

describe('a rotation', () => {
  it('keeps everything readable, only with the new MASTER_KEY, and does not change derived keys', async () => {
    const installation = new Installation();
    const before = await installation.started();
    const sealed = new Vault(before).seal('a', CONTEXT);

    await before.add();
    await before.rewrap(OTHER_KEY);
    const after = await installation.started(OTHER_KEY);

    expect(new Vault(after).open(sealed, CONTEXT).toString()).toBe('a');
    expect(new Vault(after).open(SEALED_BY_VERSION_1.sealed, SEALED_BY_VERSION_1.context).toString()).toBe(
      'sealed before data keys',
    );
    expect(after.newest().id).toBe(2);
    expect(after.derived('cursors')).toEqual(before.derived('cursors'));
    expect(await refusal(installation.started())).toBeInstanceOf(ConfigError);
  });

  it('works while processes run: they open values that processes with the new MASTER_KEY seal, and vice versa', async () => {
    const installation = new Installation();
    const running = await installation.started();
    const command = await installation.started();

    await command.add();
    await settled();
    await command.rewrap(OTHER_KEY);
    const restarted = await installation.started(OTHER_KEY);

    expect(new Vault(running).open(new Vault(restarted).seal('new', CONTEXT), CONTEXT).toString()).toBe('new');
    expect(new Vault(restarted).open(new Vault(running).seal('old', CONTEXT), CONTEXT).toString()).toBe('old');
  });

  it('with a MASTER_KEY other than the active one changes nothing', async () => {
    const installation = new Installation();
    const keyring = await installation.started();
    await keyring.rewrap(OTHER_KEY);
    const rows = installation.rows;

    expect(await refusal(keyring.rewrap(Buffer.alloc(32, 9)))).toBeInstanceOf(ConfigError);
    expect(installation.rows).toEqual(rows);
  });
});

describe('an unknown data key', () => {
  it('is loaded in the background when it is requested, and known the next time', async () => {
    const installation = new Installation();
    const [deaf, other] = [await installation.started(), await installation.started()];
    installation.isHearing = false;
    await other.add();

    const first = deaf.find(2);
    await settled();

    expect(first).toBeNull();
    expect(deaf.find(2)).not.toBeNull();
    expect(deaf.newest().id).toBe(2);
  });

  it('causes at most one read of the table per second', async () => {
    const installation = new Installation();
    const keyring = await installation.started();
    const readsBefore = installation.reads;

    for (let i = 0; i < 5; i += 1) {
      keyring.find(9);
      await settled();
    }
    expect(installation.reads).toBe(readsBefore + 1);
    installation.nowMs += 1_000;
    keyring.find(9);
    await settled();

    expect(installation.reads).toBe(readsBefore + 2);
  });

  it('stays unknown while it is wrapped with another MASTER_KEY, and known keys stay known', async () => {
    const installation = new Installation();
    const running = await installation.started();
    await (await installation.started()).rewrap(OTHER_KEY);
    await (await installation.started(OTHER_KEY)).add();
    await settled();

    expect(running.find(2)).toBeNull();
    expect(running.newest().id).toBe(1);
    expect(running.find(0)).toEqual(firstDataKey(MASTER_KEY));
  });

  it('and an unavailable database do not crash the process', async () => {
    const installation = new Installation();
    const keyring = await installation.started();
    installation.isAway = true;

    expect(keyring.find(9)).toBeNull();
    await settled();

    installation.isAway = false;
    expect(keyring.newest().id).toBe(1);
  });
});

import type { Connection } from './connection.js';
import type { PooledExchange } from './origin-pool.js';
import { OriginPool } from './origin-pool.js';

class FakeTenant implements PooledExchange {
  isSettled = false;
  connection: Connection | null = null;
  occupy(connection: Connection): void {
    this.connection = connection;
  }

  end(): void {
    this.isSettled = true;
  }
}

describe('OriginPool', () => {
  let emptied: number;
  let pool: OriginPool;
  const tenants = (count: number): FakeTenant[] => Array.from({ length: count }, () => new FakeTenant());

  beforeEach(() => {
    emptied = 0;
    pool = new OriginPool({
      url: new URL('http://hooks.example.com'),
      connect: () => undefined,
      connectionsMax: 2,
      idleMs: 1000,
      onEmpty: () => (emptied += 1),
    });
  });

  it('assigns a free connection to the exchange that waits longest, and opens none for one that has already ended', () => {
    const [first, second, settled, third, fourth] = tenants(5) as [
      FakeTenant,
      FakeTenant,
      FakeTenant,
      FakeTenant,
      FakeTenant,
    ];
    for (const tenant of [first, second, settled, third, fourth]) pool.admit(tenant, 0);
    settled.isSettled = true;

    pool.release(first.connection as Connection, 0);

    expect(settled.connection).toBeNull();
    expect(third.connection).not.toBeNull();
    expect(fourth.connection).toBeNull();
    expect([pool.connections, pool.inFlight, emptied]).toEqual([2, 3, 0]);
  });

  it('keeps no connection that failed to open, and reports when none is left', () => {
    const [only] = tenants(1) as [FakeTenant];
    pool.admit(only, 0);

    pool.release(only.connection as Connection, 0);

    expect([pool.connections, pool.inFlight]).toEqual([0, 0]);
    expect(emptied).toBeGreaterThan(0);
  });
});

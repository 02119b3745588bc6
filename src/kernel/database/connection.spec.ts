import { Duplex } from 'node:stream';
import pg from 'pg';
import { Connection, connectionOptions } from './connection.js';

/** Server messages: authentication is complete, process id 77, ready. */
const WELCOME = Buffer.concat([
  Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]),
  Buffer.from([0x4b, 0, 0, 0, 12, 0, 0, 0, 77, 0, 0, 0, 1]),
  Buffer.from([0x5a, 0, 0, 0, 5, 0x49]),
]);

/** A minimal PostgreSQL server in memory. It accepts every login and never responds to statements. */
class Server extends Duplex {
  private isGreeted = false;

  constructor() {
    super({ allowHalfOpen: false });
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  override _read(): void {}

  override _write(_bytes: Buffer, _encoding: string, done: () => void): void {
    if (!this.isGreeted) this.push(WELCOME);
    this.isGreeted = true;
    done();
  }

  /** Sends FATAL 57P01 and ends the connection, as a server does after `pg_terminate_backend`. */
  terminate(): void {
    const fields = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0');
    const head = Buffer.alloc(5);
    head.write('E');
    head.writeInt32BE(fields.length + 4, 1);
    this.push(Buffer.concat([head, fields]));
    this.push(null);
  }
}

describe('Connection', () => {
  let server: Server;

  const options = (): pg.PoolConfig => ({
    ...connectionOptions({ url: 'postgres://u:p@127.0.0.1/d', name: 'test', deadlineMs: 1_000 }),
    stream: () => (server = new Server()),
  });

  const connected = async (): Promise<Connection> => {
    const connection = new Connection(options());
    await connection.connect();
    return connection;
  };

  it('does not crash the process if the server ends it and there is no listener, and reports the error to the next listener', async () => {
    const connection = await connected();

    server.terminate();
    await new Promise<void>((resolve) => connection.on('end', resolve));
    const error = await new Promise<Error>((resolve) => connection.on('error', resolve));

    expect(error.message).toMatch(/terminat/i);
  });

  it("knows the server's process id, and the statement that it waits for", async () => {
    const connection = await connected();
    const before = connection.statement();
    const asking = connection.query('select 1').catch((error: unknown) => error);
    const meanwhile = connection.statement();

    connection.giveUp('Enough.');

    expect([connection.backendPid, before]).toEqual([77, null]);
    expect(meanwhile).toBeInstanceOf(pg.Query);
    expect(await asking).toMatchObject({ message: 'Enough.', code: 'ETIMEDOUT' });
  });

  it('is destroyed with everything that waits behind the statement, and its pool opens another one', async () => {
    const pool = new pg.Pool({ ...options(), max: 1 });
    pool.on('error', () => undefined);
    const first = await pool.connect();
    const answers = Promise.allSettled([first.query('select 1'), first.query('rollback')]);

    (first as unknown as Connection).giveUp('Enough.');
    const settled = await answers;
    first.release();
    const second = await pool.connect();

    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(second).not.toBe(first);
    second.release();
    await pool.end();
  });
});

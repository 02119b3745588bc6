import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { eventually, freePort, noteForReaper } from '../durability/processes.js';
import { hasTool, isAtLeast, printed } from '../support/optional-tools.js';

/** A stored message. Header names are in lower case. */
export interface StoredMessage {
  subject: string;
  headers: Record<string, string>;
  body: Buffer;
}

const START_MS_MAX = 10_000;
export const USER = 'posthorn';
export const PASSWORD = 'correct-horse-battery-staple';

/** Returns whether a `nats-server` is installed. CI must have one, so that the guarantees for NATS are tested. */
export const isNatsInstalled = (): boolean =>
  hasTool(
    { skipped: 'the tests with NATS', tool: 'nats-server 2.2 or newer', install: 'apt-get install nats-server' },
    () => isAtLeast(printed('nats-server', '--version'), [2, 2]),
  );

/** A NATS server with JetStream, whose streams survive a restart. */
export class NatsServer {
  private child: ChildProcess | null = null;

  private constructor(
    private readonly folder: string,
    private readonly port: number,
    private readonly monitorPort: number,
  ) {}

  static async start(): Promise<NatsServer> {
    const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-nats-'));
    const server = new NatsServer(folder, await freePort(), await freePort());
    // The user `publisher` is only allowed to publish. It cannot even read stream information.
    writeFileSync(
      path.join(folder, 'nats.conf'),
      `
      host: 127.0.0.1, port: ${server.port}, http: "127.0.0.1:${server.monitorPort}"
      jetstream { store_dir: "${folder}/streams" }
      authorization { users: [
        { user: ${USER}, password: "${PASSWORD}" }
        { user: publisher, password: "${PASSWORD}", permissions: { publish: ["orders.>"], subscribe: ["_INBOX.>"] } }
      ] }`,
    );
    await server.up();
    return server;
  }

  get address(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async up(): Promise<void> {
    const child = spawn('nats-server', ['-c', path.join(this.folder, 'nats.conf')], { stdio: 'ignore' });
    child.once('exit', noteForReaper(child.pid));
    this.child = child;
    const isUp = await eventually(
      () =>
        this.open().then(
          (connection) => connection.close().then(() => true),
          () => false,
        ),
      START_MS_MAX,
      20,
    );
    if (!isUp) throw new Error(`nats-server does not answer on port ${this.port}.`);
  }

  async down(): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await gone;
  }

  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  async addStream(name: string, subjects: string[]): Promise<void> {
    await this.using(
      async (connection) => void (await (await jetstreamManager(connection)).streams.add({ name, subjects })),
    );
  }

  stored(stream: string): Promise<StoredMessage[]> {
    return this.using(async (connection) => {
      const { streams } = await jetstreamManager(connection);
      const { state } = await streams.info(stream);
      const messages: StoredMessage[] = [];
      for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq += 1) {
        const message = await streams.getMessage(stream, { seq });
        if (message === null) continue;
        const headers = Object.fromEntries(
          [...message.header].map(([name, [value = '']]) => [name.toLowerCase(), value]),
        );
        messages.push({ subject: message.subject, headers, body: Buffer.from(message.data) });
      }
      return messages;
    });
  }

  /** Returns the number of the service's connections, as counted by the NATS server. */
  async connections(): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.monitorPort}/connz?limit=1000`);
    const { connections } = (await answer.json()) as { connections: { name?: string }[] };
    return connections.filter(({ name }) => name === 'posthorn').length;
  }

  async stop(): Promise<void> {
    await this.down();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private open(): Promise<NatsConnection> {
    return connect({
      servers: this.address.replace('nats://', ''),
      user: USER,
      pass: PASSWORD,
      name: 'test',
      reconnect: false,
      timeout: 2_000,
    });
  }

  private async using<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
    const connection = await this.open();
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  }
}

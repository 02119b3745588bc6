import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';

const EMBEDDED = new URL('../dist/src/bootstrap/embedded.js', import.meta.url);
const SETTINGS = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'shared_buffers',
  'max_wal_size',
  'max_connections',
];
const TMPFS_MAGIC = 0x01021994;

/** Databases that are starting or running. @type {Set<Promise<Database>>} */
const started = new Set();

/** Stops every PostgreSQL server that the bench has started. */
export async function stopDatabases() {
  await Promise.all([...started].map(async (starting) => (await starting.catch(() => null))?.stop()));
}

/** Embedded PostgreSQL server with durable commits, as in production. Each measured program gets an empty database. */
export class Database {
  #isStopped = false;

  /** @param {{ url: string, pid(): number, stop(): Promise<void> }} server @param {pg.Client} client */
  constructor(server, client) {
    this.server = server;
    this.client = client;
    this.count = 0;
    /** @type {Record<string, string>} */
    this.settings = {};
  }

  /** @param {string} directory @returns {Promise<Database>} */
  static start(directory) {
    const starting = Database.#start(directory);
    started.add(starting);
    return starting;
  }

  /** @param {string} directory */
  static async #start(directory) {
    if (!existsSync(EMBEDDED)) throw new Error('Nothing is built: npm run build.');
    const { startEmbeddedPostgres } = await import(EMBEDDED.href);
    const server = await startEmbeddedPostgres({ dataDir: path.join(directory, 'postgres'), database: 'bench' });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const database = new Database(server, client);
    await database.#look(directory);
    return database;
  }

  /** @param {string} directory */
  async #look(directory) {
    for (const name of SETTINGS) this.settings[name] = (await this.client.query(`show ${name}`)).rows[0][name];
    const { fsync, synchronous_commit: isSynchronous } = this.settings;
    if (fsync !== 'on' || isSynchronous !== 'on')
      throw new Error('PostgreSQL runs without fsync or synchronous_commit.');
    const { type } = await statfs(directory);
    this.settings.disk =
      type === TMPFS_MAGIC ? 'memory (tmpfs): set TMPDIR to a disk, because fsync costs nothing here' : 'disk';
  }

  /** Process id of the postmaster, the parent of all server processes. */
  get postmasterPid() {
    return this.server.pid();
  }

  /** Creates an empty database. @returns {Promise<{ name: string, url: string }>} */
  async create() {
    const name = `bench_${++this.count}`;
    await this.client.query(`create database ${name} strategy file_copy`);
    return { name, url: this.#urlOf(name) };
  }

  /**
   * Runs one statement in one of the databases and returns its rows.
   *
   * @param {string} name
   * @param {string} text
   * @param {unknown[]} [values]
   * @returns {Promise<any[]>}
   */
  async query(name, text, values = []) {
    const client = new pg.Client({ connectionString: this.#urlOf(name) });
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** @param {string} name */
  #urlOf(name) {
    const url = new URL(this.server.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  /** Drops a database, so that it is not vacuumed while the next program is measured. @param {string} name */
  async drop(name) {
    await this.client.query(`drop database if exists ${name} with (force)`);
  }

  async stop() {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.client.end();
    await this.server.stop();
  }
}

import { randomBytes } from 'node:crypto';
import { type Config, ConfigError } from '../config/config.js';
import { Connection, connectionOptions } from './connection.js';
import { sqlState } from './database.js';
import { PLANNED_SETTINGS } from './planned-pool.js';
import { retryUntilAvailable } from './retry-until-available.js';

const DEADLINE_MS = 5_000;
const NOTIFIED_MS_MAX = 5_000;

/**
 * Checks at the start that the connections to PostgreSQL support the features that Posthorn needs. A pooler lacks some
 * features of a server, and most of them fail silently.
 * @throws ConfigError with one sentence for the operator.
 */
export async function checkDatabaseConnections(config: Config): Promise<void> {
  await retryUntilAvailable(() => check(config));
}

async function check(config: Config): Promise<void> {
  const variable = config.isPooled ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  const listening = await settled(config.databaseDirectUrl, variable);
  const sending = new Connection(
    connectionOptions({
      url: config.databaseUrl,
      name: 'posthorn-check',
      deadlineMs: DEADLINE_MS,
      isPooled: config.isPooled,
    }),
  );
  try {
    await sending.connect();
    await listen(listening, sending, config.isPooled);
  } finally {
    for (const connection of [listening, sending]) void connection.end().catch(() => undefined);
  }
}

/** Opens a connection and verifies that its settings are in effect. */
async function settled(url: string, variable: string): Promise<Connection> {
  const connection = new Connection(
    connectionOptions({ url, name: 'posthorn-check', deadlineMs: DEADLINE_MS, settings: PLANNED_SETTINGS }),
  );
  try {
    await connection.connect();
    const { rows } = await connection.query<{ mode: string }>(`select current_setting('plan_cache_mode') as mode`);
    if (rows[0]?.mode !== 'force_generic_plan')
      throw new ConfigError(`${variable} leads to a pooler that drops the settings of connections. ${WHAT_TO_DO}`);
    return connection;
  } catch (error) {
    void connection.end().catch(() => undefined);
    if (sqlState(error)?.startsWith('08P'))
      throw new ConfigError(`${variable} leads to a pooler that refuses the settings of connections. ${WHAT_TO_DO}`);
    throw error;
  }
}

const WHAT_TO_DO = 'Set DATABASE_DIRECT_URL to the address of PostgreSQL itself; DATABASE_URL may stay.';

/** Checks that a notification sent over one connection arrives on the other. */
async function listen(listening: Connection, sending: Connection, isPooled: boolean): Promise<void> {
  const channel = `posthorn_check_${randomBytes(8).toString('hex')}`;
  let timer: NodeJS.Timeout | undefined;
  const notified = new Promise<boolean>((resolve, reject) => {
    listening.on('notification', (notification) => notification.channel === channel && resolve(true));
    listening.on('error', reject);
    timer = setTimeout(() => resolve(false), NOTIFIED_MS_MAX);
  });
  notified.catch(() => undefined);
  try {
    await listening.query(`listen ${channel}`);
    await sending.query(`select pg_notify('${channel}', '')`);
    if (await notified) return;
  } finally {
    clearTimeout(timer);
  }
  throw new ConfigError(
    isPooled
      ? 'Notifications sent over DATABASE_URL do not arrive over DATABASE_DIRECT_URL: both must lead to the same database, and DATABASE_DIRECT_URL must bypass every pooler.'
      : `DATABASE_URL leads to a pooler that does not keep sessions: notifications do not arrive. ${WHAT_TO_DO}`,
  );
}

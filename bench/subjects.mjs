/** Starts a program under test on a separate database, and stops the program and the database. */
import { startPosthorn } from './posthorn.mjs';
import { breakIn } from './window.mjs';

/** A rate limit that is never reached, so that a row measures only the cost of checking it. */
export const UNREACHED_PER_SECOND = 1_000_000;

/**
 * @template {import('./window.mjs').Subject} T
 * @param {import('./rows.mjs').Bench} bench
 * @param {(options: { databaseUrl: string, targetUrl: string, directory: string }) => Promise<T>} start
 * @param {(subject: T & { database: string }) => Promise<void>} use
 * @param {boolean} [isBrokenIn] false if the row warms up the subject itself
 */
export async function withSubject(bench, start, use, isBrokenIn = true) {
  const database = await bench.database.create();
  const subject = await start({
    databaseUrl: database.url,
    targetUrl: `${receiver(bench)}/ok`,
    directory: bench.directory,
  });
  if (isBrokenIn) await breakIn(bench, subject);
  await use({ ...subject, database: database.name });
  await subject.stop();
  await bench.database.drop(database.name);
}

/** @param {import('./rows.mjs').Bench} bench */
export const receiver = (bench) => `http://127.0.0.1:${bench.receiverPort}`;

/**
 * @param {import('./rows.mjs').Bench} bench
 * @param {import('./posthorn.mjs').Role[]} roles
 * @param {(subject: import('./rows.mjs').Service) => Promise<void>} use
 * @param {Record<string, string>} [more] additional environment variables
 */
export const withService = (bench, roles, use, more = {}) =>
  withSubject(bench, (options) => startPosthorn({ ...options, roles, more }), use);

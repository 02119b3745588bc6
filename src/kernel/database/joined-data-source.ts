import type { DataSource, QueryRunner, ReplicationMode } from 'typeorm';

/** Returns the connection of the current unit of work, once its transaction has begun. */
export type UnitConnection = () => Promise<unknown>;

/**
 * Returns TypeORM's data source for repositories. Inside a unit of work, its queries run on the unit's connection.
 *
 * `unitConnection` receives the mode of the query runner (`slave` for reads, `master` for writes). It returns null if
 * the statement does not belong to the transaction of a unit of work.
 *
 * Query runners on the unit's connection report an open transaction, so that TypeORM uses savepoints instead of
 * `COMMIT`. Their `release` does not release the connection, because they have not acquired it.
 */
export function joinedDataSource(
  dataSource: DataSource,
  unitConnection: (mode: ReplicationMode) => UnitConnection | null,
): DataSource {
  const joined = Object.create(dataSource) as DataSource;
  const createQueryRunner = (mode: ReplicationMode = 'master'): QueryRunner => {
    const runner = dataSource.createQueryRunner.call(joined, mode);
    const connect = unitConnection(mode);
    return connect === null
      ? runner
      : Object.assign(runner, { connect, isTransactionActive: true, transactionDepth: 1 });
  };
  Object.assign(joined, { createQueryRunner });
  return Object.assign(joined, { manager: joined.createEntityManager() });
}

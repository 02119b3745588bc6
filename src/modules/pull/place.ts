import type { Id } from '#kernel/ids.js';

/**
 * A position in a feed, directly after an item. The text has the form `epoch.xid.event.ordinal` of that item. Only
 * PostgreSQL compares positions.
 */
export type Position = string;

/** A position, and the epoch of the database that issued it. */
export interface PullPosition {
  position: Position;
  epoch: number;
}

/**
 * Result of comparing a position with this database. `current`: issued in the current epoch. `before`: issued in an
 * earlier epoch. `ahead`: newer than all data, because the database was restored to an earlier state.
 */
export type Standing = 'current' | 'ahead' | 'before';

export const ORIGIN: Position = '0.0.00000000-0000-0000-0000-000000000000.0';

export const eventAt = (position: Position): Id => position.split('.')[2] as Id;

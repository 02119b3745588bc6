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
 * Relation of a position to this database. `ahead`: the position is newer than all data. `before`: the position is from
 * an earlier epoch.
 */
export type Standing = 'current' | 'ahead' | 'before';

export const ORIGIN: Position = '0.0.00000000-0000-0000-0000-000000000000.0';

export const eventAt = (position: Position): Id => position.split('.')[2] as Id;

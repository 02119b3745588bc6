import type { Id } from '#kernel/ids.js';

/** A place in a feed, `epoch.xid.event.ordinal`: right behind that item. Only PostgreSQL compares them. */
export type Position = string;

/** A position, and the epoch of the database that gave it out. */
export interface PullPosition {
  position: Position;
  epoch: number;
}

/** What a place is to the database of now: `ahead` of it, or given out `before` it became another one. */
export type Standing = 'current' | 'ahead' | 'before';

/** Before the first item. */
export const ORIGIN: Position = '0.0.00000000-0000-0000-0000-000000000000.0';

/** The event that a position is right behind. */
export const eventAt = (position: Position): Id => position.split('.')[2] as Id;

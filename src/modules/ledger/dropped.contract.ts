/**
 * Text by which older versions marked dropped events in the column `note`, because they had no column `dropped`. It
 * must never change.
 */
const NOTE_OF_EARLIER_BUILDS = 'The transform dropped it.';

/**
 * SQL condition: the endpoint's transform dropped the event `e`. Such an event must never be sent, because its stored
 * body is the received one and not a transformed one.
 *
 * Events of older versions have no value in `dropped`. Their disposition `ignored` may also mean that no route matched,
 * so the note of their request decides (requests_pkey of one partition).
 */
export const isDropped = (e: string): string => `
  case when ${e}.dropped is not null then ${e}.dropped
       when ${e}.disposition = 'ignored' then (
         select r.note from requests r where r.environment_id = ${e}.environment_id and r.id = ${e}.id and r.expires_on = ${e}.expires_on
       ) is not distinct from '${NOTE_OF_EARLIER_BUILDS}'
       else false end`;

/** Start of the note on a request whose transform failed. This text must never change. */
export const TRANSFORM_FAILED = 'The transform failed: ';

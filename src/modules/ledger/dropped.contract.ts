/**
 * The note that older builds, which had no column `dropped`, stored with the request of a dropped event. It identifies
 * their rows, so it must never change.
 */
const NOTE_OF_EARLIER_BUILDS = 'The transform dropped it.';

/**
 * SQL expression: true if the endpoint's transform dropped the event `e`, false if no route matched it (such an event
 * is also `ignored`). A dropped event has no transformed body. The stored body is the received one, so the event must
 * never be sent. For `ignored` events of older builds, the expression looks up one partition by requests_pkey.
 */
export const isDropped = (e: string): string => `
  case when ${e}.dropped is not null then ${e}.dropped
       when ${e}.disposition = 'ignored' then (
         select r.note from requests r where r.environment_id = ${e}.environment_id and r.id = ${e}.id and r.expires_on = ${e}.expires_on
       ) is not distinct from '${NOTE_OF_EARLIER_BUILDS}'
       else false end`;

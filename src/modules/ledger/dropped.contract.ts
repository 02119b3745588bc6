/** The note that builds without the column `dropped` stored with the request of a dropped event. Their rows are known by it: it never changes. */
const NOTE_OF_EARLIER_BUILDS = 'The transform dropped it.';

/**
 * SQL: true for an event `e` that the transform of its endpoint dropped. A drop made no body, and what is stored is the body as it was received,
 * so nothing sends such an event. False for an event that no route matched, which is `ignored` too. By requests_pkey of the one
 * partition for an ignored event that an earlier build stored.
 */
export const isDropped = (e: string): string => `
  case when ${e}.dropped is not null then ${e}.dropped
       when ${e}.disposition = 'ignored' then (
         select r.note from requests r where r.environment_id = ${e}.environment_id and r.id = ${e}.id and r.expires_on = ${e}.expires_on
       ) is not distinct from '${NOTE_OF_EARLIER_BUILDS}'
       else false end`;

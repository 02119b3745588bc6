import { FAILED_PART, parts } from './metric-increments.js';

/** Settles the rows of `gone`, which were taken out of due_deliveries, as failed without an attempt; `reason` is an expression over them. */
export const endedParts = (reason: string): string => `
  settled as (
    insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason, attempts,
                            replayed, superseded, settled_at)
    select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, 'failed', ${reason}, attempts, replayed,
           superseded, now()
    from gone returning 1
  ), counted as (${parts(`select ${FAILED_PART} from gone`)}
  )`;

import { FAILED_INCREMENT, metricIncrements } from './metric-increments.js';

/**
 * SQL that records deliveries as failed without an attempt. The CTE `gone` must delete and return their rows. `reason`
 * is an SQL expression.
 */
export const endedDeliveries = (reason: string): string => `
  settled as (
    insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, status, reason, attempts,
                            replayed, superseded, settled_at)
    select environment_id, event_id, ordinal, expires_on, target_id, endpoint_id, 'failed', ${reason}, attempts, replayed,
           superseded, now()
    from gone returning 1
  ), counted as (${metricIncrements(`select ${FAILED_INCREMENT} from gone`)}
  )`;

export type DeliveryStatus = 'retrying' | 'delivered' | 'failed' | 'dlq';

/**
 * Returns the status of an event from its deliveries: the first of retrying, dlq and failed that any delivery has,
 * otherwise delivered.
 *
 * @throws RangeError for an event without deliveries, whose status is stored and not derived
 */
export function foldStatus(statuses: readonly DeliveryStatus[]): DeliveryStatus {
  if (statuses.length === 0) throw new RangeError('An event without deliveries has no derived status.');
  if (statuses.includes('retrying')) return 'retrying';
  if (statuses.includes('dlq')) return 'dlq';
  return statuses.includes('failed') ? 'failed' : 'delivered';
}

/**
 * Reason why an event has no deliveries. `ignored`: no route matched. `quarantined`: its signature is invalid.
 * `parked`: it waits until a user replays it.
 */
export type Disposition = 'quarantined' | 'parked' | 'ignored';

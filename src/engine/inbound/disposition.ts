/**
 * Reason why an event has no deliveries. `ignored`: no route matched. `quarantined`: its signature is invalid.
 * `parked`: it is held until a user replays it.
 */
export type Disposition = 'quarantined' | 'parked' | 'ignored';

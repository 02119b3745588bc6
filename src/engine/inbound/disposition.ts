/**
 * Reason why an event has no deliveries: no route matched (`ignored`), or the received event is `quarantined` or
 * `parked`.
 */
export type Disposition = 'quarantined' | 'parked' | 'ignored';

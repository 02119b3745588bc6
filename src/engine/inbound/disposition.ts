/** Why an event has no deliveries: no route matched (`ignored`), or a received event was `quarantined` or `parked`. */
export type Disposition = 'quarantined' | 'parked' | 'ignored';

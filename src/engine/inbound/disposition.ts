/** Why an event goes nowhere: nothing matched (`ignored`), or for a received one what else became of it. */
export type Disposition = 'quarantined' | 'parked' | 'ignored';

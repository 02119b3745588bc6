/** Rows of the list from which the user opened an event. */
interface Rows {
  at(index: number): { id: string } | undefined;
  indexOf(id: string): number;
}

const NO_ROWS: Rows = { at: () => undefined, indexOf: () => -1 };

/**
 * The list from which the user opened an event: its rows, and its filters as query parameters. Kept until the tab is
 * closed or reloaded.
 */
let place: { rows: Rows; search: Readonly<Record<string, unknown>>; opened: string | null } = {
  rows: NO_ROWS,
  search: {},
  opened: null,
};

export function rememberList(rows: Rows, search: object): void {
  place = { ...place, rows, search: { ...search } };
}

/** Records the opened event, whose row gets the focus when the user returns to the list. */
export function rememberOpened(id: string): void {
  place = { ...place, opened: id };
}

/** Clears the opened event after its row got the focus, or if another element has the focus. */
export function forgetOpened(): void {
  place = { ...place, opened: null };
}

export function listPlace(): typeof place {
  return place;
}

/** Returns the events before and after an event in the list from which the user came. */
export function neighboursOf(id: string): { next: string | undefined; previous: string | undefined } {
  const at = place.rows.indexOf(id);
  return at === -1
    ? { next: undefined, previous: undefined }
    : { next: place.rows.at(at + 1)?.id, previous: at === 0 ? undefined : place.rows.at(at - 1)?.id };
}

/** The rows of the list that one came from, as far as one goes through them. */
interface Rows {
  at(index: number): { id: string } | undefined;
  indexOf(id: string): number;
}

const NO_ROWS: Rows = { at: () => undefined, indexOf: () => -1 };

/** The list that one came from: its events in their order, and the address with its filters. Lives as long as the tab. */
let place: { rows: Rows; search: Readonly<Record<string, unknown>>; opened: string | null } = {
  rows: NO_ROWS,
  search: {},
  opened: null,
};

export function rememberList(rows: Rows, search: object): void {
  place = { ...place, rows, search: { ...search } };
}

/** Which of them is looked at, so that the focus returns to it. */
export function rememberOpened(id: string): void {
  place = { ...place, opened: id };
}

/** The focus is back, or somewhere else by now. */
export function forgetOpened(): void {
  place = { ...place, opened: null };
}

export function listPlace(): typeof place {
  return place;
}

/** The events beside one, in the list that one came from. */
export function neighboursOf(id: string): { next: string | undefined; previous: string | undefined } {
  const at = place.rows.indexOf(id);
  return at === -1
    ? { next: undefined, previous: undefined }
    : { next: place.rows.at(at + 1)?.id, previous: at === 0 ? undefined : place.rows.at(at - 1)?.id };
}

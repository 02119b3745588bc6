/** The list that one came from: its events in their order, and the address with its filters. Lives as long as the tab. */
let place: { ids: readonly string[]; search: Readonly<Record<string, unknown>>; opened: string | null } = { ids: [], search: {}, opened: null };

export function rememberList(ids: readonly string[], search: object): void {
  place = { ...place, ids, search: { ...search } };
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
  const at = place.ids.indexOf(id);
  return at === -1 ? { next: undefined, previous: undefined } : { next: place.ids[at + 1], previous: place.ids[at - 1] };
}

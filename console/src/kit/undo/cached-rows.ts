/** Cached data of a list that is loaded page by page. */
interface Pages {
  pages: readonly { data: readonly object[] }[];
}

/** Returns a function that changes properties of one row in the cached pages of a list. */
export function inRow(id: string, changes: object): (data: unknown) => unknown {
  return inPages((rows) => rows.map((row) => (hasField(row, 'id', id) ? { ...row, ...changes } : row)));
}

/** Returns a function that removes one row from the cached pages of a list. `field` is the field that identifies rows. */
export function withoutRow(id: string, field = 'id'): (data: unknown) => unknown {
  return inPages((rows) => rows.filter((row) => !hasField(row, field, id)));
}

/** Returns a function that adds a row before the first row of a cached list. */
export function withRow(row: object): (data: unknown) => unknown {
  return inPages((rows, page) => (page === 0 ? [row, ...rows] : rows));
}

/** Returns a function that changes properties of a cached object. */
export function inObject(changes: object): (data: unknown) => unknown {
  return (data) => ({ ...(data as object), ...changes });
}

function inPages(change: (rows: readonly object[], page: number) => readonly object[]): (data: unknown) => unknown {
  return (data) => {
    const { pages, ...rest } = data as Pages;
    return { ...rest, pages: pages.map((page, index) => ({ ...page, data: change(page.data, index) })) };
  };
}

function hasField(row: object, field: string, value: string): boolean {
  return (row as Readonly<Record<string, unknown>>)[field] === value;
}

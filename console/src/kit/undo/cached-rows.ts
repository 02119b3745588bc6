/** Cached data of a list that is loaded page by page. */
interface Pages {
  pages: readonly { data: readonly Identified[] }[];
}

interface Identified {
  id: string;
}

/** Returns a function that changes properties of one row in the cached pages of a list. */
export function inRow(id: string, changes: object): (data: unknown) => unknown {
  return inPages((rows) => rows.map((row) => (row.id === id ? { ...row, ...changes } : row)));
}

/** Returns a function that removes one row from the cached pages of a list. */
export function withoutRow(id: string): (data: unknown) => unknown {
  return inPages((rows) => rows.filter((row) => row.id !== id));
}

/** Returns a function that adds a row before the first row of a cached list. */
export function withRow(row: Identified): (data: unknown) => unknown {
  return inPages((rows, page) => (page === 0 ? [row, ...rows] : rows));
}

/** Returns a function that changes properties of a cached object. */
export function inObject(changes: object): (data: unknown) => unknown {
  return (data) => ({ ...(data as object), ...changes });
}

function inPages(
  change: (rows: readonly Identified[], page: number) => readonly Identified[],
): (data: unknown) => unknown {
  return (data) => {
    const { pages, ...rest } = data as Pages;
    return { ...rest, pages: pages.map((page, index) => ({ ...page, data: change(page.data, index) })) };
  };
}

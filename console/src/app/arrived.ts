/** Address that the page was opened with. The router removes parameters that no screen reads. */
export const ARRIVED = { pathname: location.pathname, search: location.search };

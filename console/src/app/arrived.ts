/** The address that the page was opened with: the router takes out of it what no screen reads. */
export const ARRIVED = { pathname: location.pathname, search: location.search };

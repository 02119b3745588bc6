/** URL with which the page was opened. Stored because the router removes parameters that no screen reads. */
export const ARRIVED = { pathname: location.pathname, search: location.search };

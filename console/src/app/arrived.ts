/** URL with which the page was opened. The router later removes parameters that no screen reads. */
export const ARRIVED = { pathname: location.pathname, search: location.search };

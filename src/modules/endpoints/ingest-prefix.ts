/** Where endpoints are on the platform's host, behind BASE_URL. */
export const INGEST_PREFIX = '/in/';

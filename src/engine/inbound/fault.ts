/** One fault of a setting: its path in the request (`response.headers.x-a`), and the expected value. */
export interface Fault {
  path: string;
  message: string;
}

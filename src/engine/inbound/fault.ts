/** One fault of a setting: where it stands in the request (`response.headers.x-a`), and what is expected there. */
export interface Fault {
  path: string;
  message: string;
}

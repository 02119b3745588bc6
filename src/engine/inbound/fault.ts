/** Fault of a setting. `path` is the path of the setting in the request (`response.headers.x-a`). */
export interface Fault {
  path: string;
  message: string;
}

import type { Call } from '../api/calls';

/** Returns a command for `sh` that repeats a call with an API key from the environment variable POSTHORN_API_KEY. */
export function callCurl(service: string, { method, path, body }: Pick<Call, 'method' | 'path' | 'body'>): string {
  const url = service.replace(/\/$/, '') + path;
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    '-H "Authorization: Bearer $POSTHORN_API_KEY"',
    ...(body === null ? [] : [`-H ${quoted('Content-Type: application/json')}`, `--data-raw ${quoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

/** Puts text in single quotes, so that the shell does not interpret it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

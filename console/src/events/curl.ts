/** A delivery request to show as a curl command, without its signature: the browser does not have the secret. */
export interface SentRequest {
  url: string;
  webhookId: string;
  eventType: string;
  headers: Readonly<Record<string, string>>;
  /** Body as text. Null for a binary body, which the command reads from a downloaded file. */
  body: string | null;
}

/** Returns a command for `sh`. All values are in single quotes, so that the shell does not interpret them. */
export function curlOf({ url, webhookId, eventType, headers, body }: SentRequest): string {
  const own = {
    'content-type': 'application/json',
    'webhook-id': webhookId,
    'webhook-timestamp': '$(date +%s)',
    'webhook-event-type': eventType,
    'webhook-signature': 'v1,SIGNATURE',
  };
  const given = Object.entries(headers).filter(([name]) => !(name.toLowerCase() in own));
  const lines = [
    `curl -X POST ${quoted(url)}`,
    ...Object.entries(own).map(([name, value]) =>
      name === 'webhook-timestamp' ? `-H "${name}: ${value}"` : `-H ${quoted(`${name}: ${value}`)}`,
    ),
    ...given.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    body === null ? "--data-binary '@payload'" : `--data-raw ${quoted(body)}`,
  ];
  return lines.join(' \\\n  ');
}

/** Returns a command with the service's signature, which is valid for five minutes. */
export function signedCurlOf({
  method,
  url,
  headers,
  body,
}: {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}): string {
  const lines = [
    `curl -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    body === null ? "--data-binary '@payload'" : `--data-raw ${quoted(body)}`,
  ];
  return lines.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

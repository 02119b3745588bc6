export interface ListeningAddress {
  readonly address: string;
  readonly port: number;
}

/** Addresses that `localhost` resolves to on this machine: the loopback addresses and the two wildcard addresses. */
const OF_LOCALHOST: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '0.0.0.0', '::']);

/** Returns lines with the listening addresses, the base URL of the API (`Config.baseUrl`), and a local Swagger UI. */
export function listeningLines(addresses: readonly ListeningAddress[], configuredBaseUrl: string | null): string[] {
  const isLocalhost = addresses.some(({ address }) => OF_LOCALHOST.has(address));
  const [first] = addresses;
  const reachable = first === undefined ? '' : isLocalhost ? `http://localhost:${first.port}` : urlOf(first);
  return [
    ...addresses.map((address) => `Posthorn is listening on ${urlOf(address)}`),
    `Base URL: ${configuredBaseUrl ?? `http://localhost:${first?.port ?? ''}`}`,
    `Swagger UI: ${configuredBaseUrl ?? reachable}/docs`,
  ];
}

const urlOf = ({ address, port }: ListeningAddress): string =>
  `http://${address.includes(':') ? `[${address}]` : address}:${port}`;

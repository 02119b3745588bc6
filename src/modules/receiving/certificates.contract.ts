/** Certificates that providers publish, for Posthorn's own features, which no endpoint belongs to. */
export abstract class ProviderCertificates {
  /**
   * Uses the cache of the endpoints and its own budget, with the address checks for outbound connections. Returns
   * undefined if unavailable now. The caller knows that the URL is the provider's.
   */
  abstract ofOperator(url: string): Promise<string | undefined>;
}

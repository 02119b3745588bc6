/** Certificates that providers publish, for Posthorn's own features, which no endpoint belongs to. */
export abstract class ProviderCertificates {
  /**
   * Returns the certificate at a URL that the caller knows to be the provider's, from the cache that endpoints also
   * use. Returns undefined if it is unavailable now. Requests pass the address checks for outbound connections and have
   * a budget of their own.
   */
  abstract ofOperator(url: string): Promise<string | undefined>;
}

/** Certificates that providers publish, for features of Posthorn that do not belong to an endpoint. */
export abstract class ProviderCertificates {
  /**
   * Returns the text at the URL, or undefined if it is unavailable now. Shares the endpoints' cache, but has its own
   * budget. Outbound address checks apply. The caller must know that the URL is the provider's.
   */
  abstract ofOperator(url: string): Promise<string | undefined>;
}

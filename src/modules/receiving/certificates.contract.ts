/** Certificates that providers publish, for what is the operator's own: nobody's endpoint asks for them. */
export abstract class ProviderCertificates {
  /**
   * The certificate at a URL that the caller knows to be the provider's, from the cache that endpoints have too; undefined when
   * there is none right now. Through the gate for outbound connections, and within a budget of its own.
   */
  abstract ofOperator(url: string): Promise<string | undefined>;
}

import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { clientNetwork } from '#http/client-network.js';
import { oauthError } from '#http/oauth-answers.js';
import { Config } from '#kernel/config/config.js';
import { ClientDocuments } from './client-documents.js';
import { clientMetadata, DEVICE_GRANT, type OAuthClient } from './client-metadata.js';
import { OAuthClientsStore } from './oauth-clients.store.js';

/** Maximum number of unapproved clients in total. They are deleted after a day. */
const UNAPPROVED_MAX = 10_000;
/** Maximum number of unapproved clients that registered from one network. */
const UNAPPROVED_OF_NETWORK_MAX = 100;

/** The command line tool. It ships with Posthorn, so it needs no registration. It uses only the device grant. */
const COMMAND_LINE: OAuthClient = {
  id: 'posthorn-cli',
  name: 'Posthorn command line',
  uri: null,
  redirectUris: [],
  grantTypes: [DEVICE_GRANT],
  isDocument: false,
};

@Injectable()
export class OAuthClients {
  constructor(
    private readonly store: OAuthClientsStore,
    private readonly documents: ClientDocuments,
    private readonly config: Config,
  ) {}

  /**
   * Registers a public client. Throws `invalid_redirect_uri` and `invalid_client_metadata`.
   *
   * Calls `countSuccess` once the metadata is valid, so that invalid requests do not count toward the rate limit.
   * Rethrows the errors of `countSuccess`.
   *
   * If there are too many unapproved clients, deletes the oldest ones of this network, or of the site that
   * registered the most.
   */
  async register(
    given: unknown,
    address: string,
    countSuccess: () => Promise<void>,
  ): Promise<OAuthClient & { createdAt: Date }> {
    const metadata = clientMetadata(given, this.config.oauthRedirectSchemes);
    if ('fault' in metadata) throw oauthError(metadata.code, metadata.fault);
    await countSuccess();
    const client = { id: randomBytes(16).toString('base64url'), ...metadata };
    const network = clientNetwork(address);
    const { createdAt, ofNetwork, inAll } = await this.store.add(
      client,
      network,
      UNAPPROVED_OF_NETWORK_MAX,
      UNAPPROVED_MAX,
    );
    if (ofNetwork > UNAPPROVED_OF_NETWORK_MAX) await this.store.thinNetwork(network, UNAPPROVED_OF_NETWORK_MAX);
    if (inAll > UNAPPROVED_MAX) await this.store.thin(UNAPPROVED_MAX);
    return { ...client, isDocument: false, createdAt };
  }

  /** Returns the client, or an error message if there is none. */
  async find(id: string | undefined): Promise<OAuthClient | string> {
    if (id === undefined || id === '') return 'The client_id is missing.';
    if (id === COMMAND_LINE.id) return COMMAND_LINE;
    if (ClientDocuments.isDocumentUrl(id)) return this.documents.find(id);
    const found = /^[A-Za-z0-9_-]{22}$/.test(id) ? await this.store.find(id) : null;
    return found === null
      ? 'This client is not registered here, or its registration has expired.'
      : { ...found, isDocument: false };
  }

  /**
   * Records that the client was shown to a user. The client is then kept for a day, even if many other clients
   * register.
   */
  async show({ id, isDocument }: OAuthClient): Promise<void> {
    if (!isDocument && id !== COMMAND_LINE.id) await this.store.show(id);
  }

  approve(id: string): Promise<void> {
    return this.store.approve(id);
  }
}

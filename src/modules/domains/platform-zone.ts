import { Injectable } from '@nestjs/common';
import type { PlatformNames } from '#engine/mail/dns-records.js';
import { mailHost } from '#engine/mail/platform-zone.js';
import { Config } from '#kernel/config/config.js';
import { DkimKeys } from './dkim-keys.js';

/** Names in the operator's zone to which customers' DNS records point. */
@Injectable()
export class PlatformZone {
  constructor(
    private readonly config: Config,
    private readonly keys: DkimKeys,
  ) {}

  /** PLATFORM_DOMAIN, or null if that name is not publicly resolvable. */
  get domain(): string | null {
    const { platformDomain } = this.config;
    return platformDomain.includes('.') ? platformDomain : null;
  }

  /** Host that receives incoming mail and reports about sent mail. */
  get mailHost(): string {
    return this.domain === null ? this.ownHost : mailHost(this.domain);
  }

  async names(): Promise<PlatformNames> {
    const { domain, mailHost } = this;
    return { domain, mailHost, ingestHost: domain ?? this.ownHost, dkim: await this.keys.published() };
  }

  private get ownHost(): string {
    return new URL(this.config.baseUrl).hostname;
  }
}

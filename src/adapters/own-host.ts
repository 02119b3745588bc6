import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { CustomHosts } from '#modules/domains/contract.js';

/** Recognizes URLs of this service, because deliveries to its receive URLs would loop. */
@Injectable()
export class OwnHost {
  constructor(
    private readonly config: Config,
    private readonly customHosts: CustomHosts,
  ) {}

  /** Returns whether a URL is on the host of BASE_URL, or on a customer domain that points to this service. */
  is(url: string): boolean {
    return URL.canParse(url) && (hostOf(url) === hostOf(this.config.baseUrl) || this.isCustom(url));
  }

  receives(url: string): boolean {
    return this.is(url) && (new URL(url).pathname.includes('/in/') || this.isCustom(url));
  }

  private isCustom(url: string): boolean {
    return this.customHosts.serving(new URL(url).hostname.replace(/\.$/, '')) !== null;
  }
}

/** Returns the host with its port, without a trailing dot. */
function hostOf(url: string): string {
  return new URL(url).host.replace(/\.(?=$|:)/, '');
}

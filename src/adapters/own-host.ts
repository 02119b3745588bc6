import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { CustomHosts } from '#modules/domains/contract.js';

/** Tells this service's own addresses from others: what is sent to where it receives goes in circles. */
@Injectable()
export class OwnHost {
  constructor(
    private readonly config: Config,
    private readonly customHosts: CustomHosts,
  ) {}

  /** Whether a URL is on the host of BASE_URL, or on one of customers' own that leads here. */
  is(url: string): boolean {
    return URL.canParse(url) && (hostOf(url) === hostOf(this.config.baseUrl) || this.isCustom(url));
  }

  /** Whether a URL is a receive URL there. */
  receives(url: string): boolean {
    return this.is(url) && (new URL(url).pathname.includes('/in/') || this.isCustom(url));
  }

  private isCustom(url: string): boolean {
    return this.customHosts.serving(new URL(url).hostname.replace(/\.$/, '')) !== null;
  }
}

/** With its port, and without the dot that a name may end with. */
function hostOf(url: string): string {
  return new URL(url).host.replace(/\.(?=$|:)/, '');
}

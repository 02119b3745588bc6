import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config.js';

/** Tells this service's own addresses from others: what is sent to where it receives goes in circles. */
@Injectable()
export class OwnHost {
  constructor(private readonly config: Config) {}

  /** Whether a URL is on the host of BASE_URL. */
  is(url: string): boolean {
    return URL.canParse(url) && hostOf(url) === hostOf(this.config.baseUrl);
  }

  /** Whether a URL is a receive URL there. */
  receives(url: string): boolean {
    return this.is(url) && new URL(url).pathname.includes('/in/');
  }
}

/** With its port, and without the dot that a name may end with. */
function hostOf(url: string): string {
  return new URL(url).host.replace(/\.(?=$|:)/, '');
}

import { Injectable } from '@nestjs/common';
import { EgressGate } from '#egress/gate.js';
import { Config } from '#kernel/config/config.js';
import { type Fault, invalid } from '#kernel/errors.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { Targets } from '#modules/destinations/targets.js';
import { CustomHosts } from '#modules/domains/contract.js';
import { Sandbox } from '#sandbox/sandbox.js';
import type { SettingsChanges } from './endpoint-settings.js';
import { isReceiveUrl } from './receive-url.js';
import { noDestination, type RouteDraft } from './route-drafts.js';

export interface OutsideParts {
  settings?: SettingsChanges;
  drafts: readonly RouteDraft[] | null;
}

/**
 * Checks that need external data: whether code compiles, whether URLs may be called, and whether destinations exist.
 */
@Injectable()
export class OutsideChecks {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly gate: EgressGate,
    private readonly targets: Targets,
    private readonly config: Config,
    private readonly environments: Environments,
    private readonly customHosts: CustomHosts,
  ) {}

  /**
   * Runs all checks. Throws 422 with all errors. The caller must have found no other errors in the settings. Call it
   * outside of transactions, because checking code may take seconds.
   */
  async pass(
    environmentId: number,
    { settings: { responseProxy, transform, verificationConfig, deduplicate } = {}, drafts }: OutsideParts,
  ): Promise<void> {
    const asked = await Promise.all([
      this.hostFaults(environmentId, responseProxy ?? {}, 'responseProxy'),
      this.hostFaults(environmentId, transform ?? {}, 'transform'),
      this.windowFaults(environmentId, deduplicate ?? {}),
      ...(drafts ?? []).map((draft) => this.destinationFaults(environmentId, draft)),
    ]);
    const faults = [...asked.flat(), ...this.jwksFaults(verificationConfig ?? {})];
    if (faults.length > 0) throw invalid(faults);
  }

  private async destinationFaults(environmentId: number, { destinationId, at }: RouteDraft): Promise<Fault[]> {
    const target = await this.targets.ofListed(environmentId, destinationId);
    return target === null ? [noDestination(at)] : [];
  }

  /** Returns an error if the deduplication window exceeds the retention period, after which ids are deleted. */
  private async windowFaults(
    environmentId: number,
    { window_hours: hours = 0 }: { window_hours?: number },
  ): Promise<Fault[]> {
    const { retentionDays } = await this.environments.get(environmentId);
    const hoursMax = retentionDays * 24;
    return hours > hoursMax
      ? [
          {
            path: 'deduplicate.window_hours',
            message: `must be at most ${hoursMax}, which is how long this environment keeps events`,
          },
        ]
      : [];
  }

  private jwksFaults({ jwksUrl }: { jwksUrl?: unknown }): Fault[] {
    return typeof jwksUrl === 'string' ? this.urlFaults(jwksUrl, 'verificationConfig.jwksUrl') : [];
  }

  private async hostFaults(
    environmentId: number,
    { code, url }: { code?: string; url?: string },
    at: string,
  ): Promise<Fault[]> {
    const codeFault = code === undefined ? null : await this.codeFault(environmentId, code);
    return [
      ...(codeFault === null ? [] : [{ path: `${at}.code`, message: codeFault }]),
      ...(url === undefined ? [] : this.urlFaults(url, `${at}.url`)),
    ];
  }

  private async codeFault(environmentId: number, code: string): Promise<string | null> {
    const { organizationId } = await this.environments.get(environmentId);
    return this.sandbox.check(code, organizationId);
  }

  private urlFaults(url: string, path: string): Fault[] {
    const verdict = this.gate.check(url);
    if (!verdict.ok) return [{ path, message: verdict.reason, check: verdict.check }];
    const isOwn =
      isReceiveUrl(verdict.url, this.config.baseUrl) || this.customHosts.serving(verdict.url.hostname) !== null;
    if (!isOwn) return [];
    return [
      {
        path,
        message: 'The URL is where this service receives: it would call itself endlessly.',
        check: 'connectivity',
      },
    ];
  }
}

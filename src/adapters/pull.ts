import type { Fault } from '#kernel/errors.js';
import type { Draft } from '#modules/destinations/contract.js';
import { Adapter, type DeliveryAnswer, DestinationAdapter, type ProbeReport } from '#modules/destinations/contract.js';

/** Stores deliveries until a consumer behind a firewall fetches them. */
@Adapter()
export class PullAdapter extends DestinationAdapter {
  override readonly type = 'pull';
  override readonly pulled = true;

  override check({ url, config, credentials }: Draft): Fault[] {
    const faults = Object.keys(config).map((key) => ({ path: `config.${key}`, message: 'is not known here' }));
    if (url !== null) faults.push({ path: 'url', message: 'A pull destination has no URL.' });
    if (credentials !== null) faults.push({ path: 'credentials', message: 'A pull destination takes no credentials.' });
    return faults;
  }

  /** Always succeeds, because the consumer connects to Posthorn. */
  override probe(): Promise<ProbeReport> {
    return Promise.resolve({ ok: true, detail: '' });
  }

  override deliver(): Promise<DeliveryAnswer> {
    return Promise.resolve({
      answer: { kind: 'error', error: 'protocol' },
      durationMs: 0,
      excerpt: 'Deliveries to a pull destination are fetched, never sent.',
    });
  }
}

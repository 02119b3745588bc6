import { Injectable } from '@nestjs/common';
import { Targets } from '#modules/destinations/contract.js';
import { readAllowedSender } from '#engine/mail/allowed-senders.js';
import { type Fault, invalid } from '#kernel/errors.js';
import { parseId } from '#kernel/ids.js';
import type { AliasColumns } from './aliases.store.js';

/** What a caller says of an alias besides its address: what is left out stays, null clears. */
export interface AliasSettings {
  destinationIds?: readonly string[];
  allowedSenders?: readonly string[];
  maxSizeBytes?: number | null;
}

/** Reads the settings of aliases. */
@Injectable()
export class AliasSettingsReader {
  constructor(private readonly targets: Targets) {}

  /** Throws 422 with every fault. Outside of transactions: destinations are asked for. */
  async read(environmentId: number, { destinationIds, allowedSenders, maxSizeBytes }: AliasSettings): Promise<AliasColumns> {
    const faults: Fault[] = [];
    const columns: AliasColumns = {};
    if (maxSizeBytes !== undefined) columns.maxSizeBytes = maxSizeBytes;
    if (allowedSenders !== undefined) {
      const read = allowedSenders.map((text, i) => ({ ...readAllowedSender(text), i }));
      for (const each of read) if ('fault' in each) faults.push({ path: `allowedSenders.${each.i}`, message: each.fault });
      columns.allowedSenders = [...new Set(read.flatMap((each) => ('entry' in each ? [each.entry] : [])))];
    }
    if (destinationIds !== undefined) {
      const ids = [...new Set(destinationIds)].map((text) => parseId('dst', text));
      const known = await Promise.all(ids.map(async (id) => (id === null ? null : this.targets.ofListed(environmentId, id))));
      known.forEach((target, i) => {
        if (target === null) faults.push({ path: `destinationIds.${i}`, message: 'There is no such destination.' });
      });
      columns.destinationIds = ids.filter((id) => id !== null);
    }
    if (faults.length > 0) throw invalid(faults);
    return columns;
  }
}

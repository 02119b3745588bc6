import { Injectable } from '@nestjs/common';
import { compileFilter } from '#engine/conditions/condition.js';
import { readAllowedSender } from '#engine/mail/allowed-senders.js';
import { type Fault, invalid } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import { Targets } from '#modules/destinations/targets.js';
import { AliasActionsReader, type AskedAliasActions } from '../actions/alias-actions.js';
import type { AliasColumns } from './aliases.store.js';

/** Settings as given by the caller. Missing fields keep their values, and null clears them. */
export interface AliasSettings extends AskedAliasActions {
  /** Short form of `routes`. Destinations that the alias already has keep their filters. */
  destinationIds?: readonly string[];
  routes?: readonly AskedAliasRoute[];
  allowedSenders?: readonly string[];
  maxSizeBytes?: number | null;
}

/** A route. With a null filter, the destination gets all mail. */
export interface AskedAliasRoute {
  /** Destination id (`dst_…`). */
  destination: string;
  filter: Record<string, unknown> | null;
}

@Injectable()
export class AliasSettingsReader {
  constructor(
    private readonly targets: Targets,
    private readonly actions: AliasActionsReader,
  ) {}

  /**
   * Returns the columns to store. Throws 422 with all validation errors. Queries destinations, so call it outside of
   * transactions.
   */
  async read(
    environmentId: number,
    { destinationIds, routes, allowedSenders, maxSizeBytes, ...asked }: AliasSettings,
  ): Promise<AliasColumns> {
    const { columns: actions, faults } = await this.actions.read(environmentId, asked);
    const columns: AliasColumns = actions;
    if (maxSizeBytes !== undefined) columns.maxSizeBytes = maxSizeBytes;
    if (allowedSenders !== undefined) {
      const read = allowedSenders.map((text, i) => ({ ...readAllowedSender(text), i }));
      for (const each of read)
        if ('fault' in each) faults.push({ path: `allowedSenders.${each.i}`, message: each.fault });
      columns.allowedSenders = [...new Set(read.flatMap((each) => ('entry' in each ? [each.entry] : [])))];
    }
    const named =
      routes?.map(({ destination }, i) => ({ text: destination, path: `routes.${i}.destination` })) ??
      destinationIds?.map((text, i) => ({ text, path: `destinationIds.${i}` }));
    if (named !== undefined) {
      const ids = named.map(({ text }) => parseId('dst', text));
      faults.push(
        ...(await this.unknown(environmentId, ids)).map((at) => ({
          path: named[at]?.path ?? '',
          message: 'There is no such destination.',
        })),
      );
      columns.destinationIds = [...new Set(ids.filter((id) => id !== null))];
    }
    if (routes !== undefined) {
      const { filters, faults: found } = readFilters(routes);
      columns.filters = filters;
      faults.push(...found, ...disagreement(destinationIds, routes));
    }
    if (faults.length > 0) throw invalid(faults);
    return columns;
  }
  private async unknown(environmentId: number, ids: readonly (Id | null)[]): Promise<number[]> {
    const known = await Promise.all(
      ids.map(async (id) => (id === null ? null : this.targets.ofListed(environmentId, id))),
    );
    return known.flatMap((target, at) => (target === null ? [at] : []));
  }
}

function readFilters(routes: readonly AskedAliasRoute[]): {
  filters: NonNullable<AliasColumns['filters']>;
  faults: Fault[];
} {
  const filters: NonNullable<AliasColumns['filters']> = {};
  const faults: Fault[] = [];
  routes.forEach(({ destination, filter }, at) => {
    const id = parseId('dst', destination);
    if (id !== null && routes.findIndex((other) => parseId('dst', other.destination) === id) < at)
      faults.push({ path: `routes.${at}.destination`, message: 'The same destination occurs twice.' });
    if (filter === null) return;
    const compiled = compileFilter(filter, `routes.${at}.filter`);
    if ('faults' in compiled) faults.push(...compiled.faults);
    else if (id !== null) filters[id] = filter;
  });
  return { filters, faults };
}

/**
 * Returns an error if `destinationIds` and `routes` differ. Both fields may be given, because a client may send back a
 * GET response, which contains both.
 */
function disagreement(destinationIds: readonly string[] | undefined, routes: readonly AskedAliasRoute[]): Fault[] {
  const named = new Set(routes.map(({ destination }) => destination));
  const agree =
    destinationIds === undefined ||
    (new Set(destinationIds).size === named.size && destinationIds.every((id) => named.has(id)));
  return agree ? [] : [{ path: 'destinationIds', message: 'names other destinations than routes: give one of them' }];
}

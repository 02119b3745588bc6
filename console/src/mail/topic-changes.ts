import { inObject, inRow, withoutRow, withRow } from '../kit/undo/cached-rows';
import type { ChangedView } from '../kit/undo/perform';
import type { TopicFilters } from './mail-filters';

interface Listed {
  email: string;
  subscription: string;
  origin: string;
}

/**
 * Returns whether setting the subscription again restores it. False if the recipient made the choice, because the API
 * would store the restored choice as its own.
 */
export function isRestorable({ origin }: Pick<Listed, 'origin'>): boolean {
  return origin !== 'recipient';
}

/** Removes the subscription of an address from all cached lists of a topic. */
export function subscriptionRemoval(environment: string, topic: string, { email }: Listed): ChangedView {
  return { queryKey: ['topic-subscriptions', environment, topic], change: withoutRow(email, 'email') };
}

/** Adds the subscription of an address to those cached lists of a topic whose filters it matches. */
export function subscriptionAddition(environment: string, topic: string, row: Listed): ChangedView {
  return {
    queryKey: ['topic-subscriptions', environment, topic],
    change: (data, [, , , filters]) => {
      const { subscription } = filters as TopicFilters;
      return subscription === undefined || subscription === row.subscription ? withRow(row)(data) : data;
    },
  };
}

/** Changes the fields of a topic in the cached lists and on its page. */
export function topicChange(environment: string, id: string, fields: object): ChangedView[] {
  return [
    { queryKey: ['topics', environment], change: inRow(id, fields) },
    { queryKey: ['topic', environment, id], change: inObject(fields) },
  ];
}

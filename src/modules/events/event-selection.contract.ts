import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** The filters of the list of events, as a caller gives them. */
export interface SelectionQuery {
  status?: string | string[];
  endpoint?: string;
  destination?: string;
  application?: string;
  event_type?: string;
  message_id?: string;
  direction?: 'outbound' | 'inbound';
  error?: string;
  q?: string;
  since?: string;
  until?: string;
}

/** What filters stand for: a value that can be stored as JSON, and given back as it is. */
export interface EventSelection {
  /** Events from this id to before that one. */
  fromId: Id;
  beforeId: Id;
  /** What they name, where they do: a destination or an ad-hoc URL, an application's endpoint that has a URL, or another endpoint. */
  destinationId?: Id;
  targetId?: Id;
  endpointId?: Id;
  applicationId?: Id;
  messageId?: Id;
}

/** Some of the events of a list, newest first. */
export interface SelectedEvents {
  events: { id: Id; expiresOn: string }[];
  /** Where the next ones are: before this id; null when there are none. */
  beforeId: Id | null;
}

/** How many events there are. */
export interface SelectionCount {
  count: number;
  /** True when there may be more. */
  isCapped: boolean;
  /** Where looking ended before there were too many: milliseconds since the epoch. */
  searchedTo: number | null;
}

/** What a list of events shows, for those who do something with all of it. */
export abstract class EventSelections {
  /** What filters stand for; null when nothing can match. Throws 400. */
  abstract resolve(tenant: Tenant, query: SelectionQuery): Promise<EventSelection | null>;

  /** Counted as the list counts. Throws 400. */
  abstract count(tenant: Tenant, query: SelectionQuery): Promise<SelectionCount>;

  /** A bounded number of rows is looked through, so that there may be none and still more behind them. */
  abstract page(environmentId: number, selection: EventSelection, limit: number): Promise<SelectedEvents>;
}

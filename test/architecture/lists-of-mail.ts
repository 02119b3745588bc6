import type { Database } from '../../src/kernel/database/database.js';
import type { Id } from '../../src/kernel/ids.js';
import { ApplicationEndpointsStore } from '../../src/modules/applications/application-endpoints.store.js';
import { emailTargetId } from '../../src/modules/email/email-destination.js';
import { EmailsStore, SHOWN_STATUSES } from '../../src/modules/email/emails.store.js';
import { MessagesStore } from '../../src/modules/inbox/messages/messages.store.js';
import { ALIAS, ENVIRONMENT, SELDOM_ALIAS } from './ledger-of-a-million.js';

/** The id range that a page covers. */
interface Range {
  environmentId: number;
  beforeId: Id;
  fromId: Id;
}

/** Maximum number of emails that a filtered page reads: the value that `EmailsService` passes. */
const CANDIDATES_MAX = 1_000;
/** Maximum number of received messages that a filtered page reads. */
const MESSAGES_SCANNED_MAX = 2_000;
/** Maximum number of customers' endpoints that a filtered page reads. */
const ENDPOINTS_SCANNED_MAX = 5_000;
const NOBODY = 'nobody@d.example';

const sent = (db: Database, range: Range, filter: object): Promise<unknown> =>
  new EmailsStore(db).withTraits({ ...range, targetId: emailTargetId(ENVIRONMENT), ...filter }, CANDIDATES_MAX);
const received = (db: Database, range: Range, filter: object): Promise<unknown> =>
  new MessagesStore(db).found({ ...range, aliasId: ALIAS, ...filter });
const STARTS: Partial<Record<(typeof SHOWN_STATUSES)[number], string>> = {
  dlq: 'deliveries_target_id_idx',
  scheduled: 'scheduled_emails_pkey',
};

/**
 * Lists of mail and of subscribers, each with its call, its indexes and the maximum number of database pages. The
 * filters match no row or every row, which is the worst case.
 */
export const LISTS_OF_MAIL: [string, (db: Database, range: Range) => Promise<unknown>, string[], number][] = [
  ...SHOWN_STATUSES.map((status): (typeof LISTS_OF_MAIL)[number] => [
    `sent mail, ${status}, of a tag and a recipient`,
    (db, range) => sent(db, range, { status, tag: { name: 'a', value: 'b' }, recipient: NOBODY }),
    [STARTS[status] ?? 'emails_status_idx'],
    CANDIDATES_MAX * 8,
  ]),
  [
    'sent mail of a recipient',
    (db, range) => sent(db, range, { recipient: NOBODY }),
    ['emails_pkey', 'scheduled_emails_pkey'],
    CANDIDATES_MAX * 8,
  ],
  [
    'sent mail of a tag that every email has',
    (db, range) => sent(db, range, { tag: { name: 'kind' } }),
    ['emails_pkey', 'events_pkey'],
    CANDIDATES_MAX * 20,
  ],
  [
    'received mail',
    (db, range) => new MessagesStore(db).list({ ...range, aliasId: ALIAS }, 51),
    ['inbox_messages_alias_id_idx'],
    500,
  ],
  [
    'received mail of an address that gets little',
    (db, range) => new MessagesStore(db).list({ ...range, aliasId: SELDOM_ALIAS }, 51),
    ['inbox_messages_alias_id_idx'],
    500,
  ],
  [
    'received mail that replies to a sent email',
    (db, range) => new MessagesStore(db).replies({ ...range, aliasId: ALIAS }, range.beforeId, 51),
    ['inbox_messages_in_reply_to_email_id_idx'],
    500,
  ],
  [
    'replies to a sent email, of all aliases',
    (db, range) => new MessagesStore(db).replies(range, range.beforeId, 51),
    ['inbox_messages_in_reply_to_email_id_idx'],
    500,
  ],
  [
    'the sent email that a message replies to',
    (db) =>
      new EmailsStore(db).ofMessageIds(ENVIRONMENT, [
        '<evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1@d.example>',
        '<0100-1@d.example>',
      ]),
    ['emails_pkey', 'emails_provider_message_id_idx'],
    500,
  ],
  [
    'received mail, quarantined',
    (db, range) => received(db, range, { state: 'quarantined' }),
    ['inbox_messages_alias_id_idx'],
    MESSAGES_SCANNED_MAX * 2,
  ],
  [
    'received mail of a sender',
    (db, range) => received(db, range, { from: NOBODY }),
    ['inbox_messages_alias_id_idx'],
    MESSAGES_SCANNED_MAX * 2,
  ],
  [
    'received mail of a sender, in a state, of an address that gets little',
    (db, range) => received(db, range, { from: NOBODY, state: 'received', aliasId: SELDOM_ALIAS }),
    ['inbox_messages_alias_id_idx'],
    MESSAGES_SCANNED_MAX * 2,
  ],
  [
    'subscribers of an event type, over all applications',
    (db, { beforeId }) => subscribers(db, ['order.paid', 'order.*', '*'], beforeId),
    ['application_endpoints_pkey'],
    ENDPOINTS_SCANNED_MAX,
  ],
  [
    'subscribers of an event type that every endpoint hears',
    (db, { beforeId }) => subscribers(db, ['invoice.*'], beforeId),
    ['application_endpoints_pkey'],
    ENDPOINTS_SCANNED_MAX,
  ],
];

function subscribers(db: Database, patterns: readonly string[], beforeId: Id): Promise<unknown> {
  return new ApplicationEndpointsStore(db, undefined as never, undefined as never).subscribers(
    ENVIRONMENT,
    patterns,
    beforeId,
  );
}

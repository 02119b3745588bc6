import { refusesAddress } from './delivery-status.js';
import type { FactKind } from './recipient-state.js';
import { cleanReply } from './smtp-reply.js';
import { statusOfField } from './status-codes.js';

export interface SesFact {
  address: string;
  kind: FactKind;
  subtype: string | null;
  detail: string | null;
  isPermanent: boolean;
}

/** An SES notification in one of two formats: event publishing (`eventType`) or feedback (`notificationType`). */
export interface SesNotification {
  /** Type in SES's terms, such as `Bounce` or `DeliveryDelay`. */
  type: string;
  /** Events, one per recipient. Empty for `Send`, `Open`, `Click` and other types without effect. */
  facts: readonly SesFact[];
  /** Identifiers of the email, the most reliable first. */
  about: {
    /** Values of the tag that Posthorn sets on every email. */
    emailIds: readonly string[];
    source: string;
    /** Message-ID that Posthorn set, without angle brackets. SES replaces it in the sent message. */
    messageIds: readonly string[];
    sesId: string;
  };
}

export const SES_TAG = 'posthorn_email';

const RECIPIENTS_MAX = 100;

type Fields = Readonly<Record<string, unknown>>;

/** Parses a notification. Returns null if the text is not a notification. For an unknown type, `facts` is empty. */
export function readSesNotification(text: string): SesNotification | null {
  const notification = fieldsOf(parsed(text));
  const type = textOf(notification['eventType']) || textOf(notification['notificationType']);
  const mail = fieldsOf(notification['mail']);
  if (type === '' || textOf(mail['messageId']) === '') return null;
  return { type, facts: factsOf(type, notification, mail), about: aboutOf(mail) };
}

function factsOf(type: string, notification: Fields, mail: Fields): SesFact[] {
  const fact = (address: string, kind: FactKind, subtype: string, detail: string, isPermanent = false): SesFact => ({
    address,
    kind,
    subtype: subtype === '' ? null : subtype.slice(0, 64),
    detail: detail === '' ? null : cleanReply(detail),
    isPermanent,
  });
  const everybody = listOf(mail['destination'])
    .map(textOf)
    .filter((address) => address !== '');
  switch (type) {
    case 'Bounce': {
      const bounce = fieldsOf(notification['bounce']);
      const [kind, subKind] = [textOf(bounce['bounceType']), textOf(bounce['bounceSubType'])];
      return each(bounce['bouncedRecipients'], (address, recipient) => {
        const said = textOf(recipient['diagnosticCode']) || [kind, subKind].filter((word) => word !== '').join(': ');
        return fact(
          address,
          'bounced',
          textOf(recipient['status']) || kind.toLowerCase(),
          said.replace(/^smtp;\s{0,5}/i, ''),
          kind === 'Permanent' && isOfAddress(subKind, recipient),
        );
      });
    }
    case 'Complaint': {
      const complaint = fieldsOf(notification['complaint']);
      const word = textOf(complaint['complaintFeedbackType']) || 'abuse';
      if (word === 'not-spam') return [];
      return each(complaint['complainedRecipients'], (address) =>
        fact(address, 'complained', word, textOf(complaint['complaintSubType']) || textOf(complaint['userAgent'])),
      );
    }
    case 'Delivery': {
      const delivery = fieldsOf(notification['delivery']);
      return listOf(delivery['recipients'])
        .map(textOf)
        .filter((address) => address !== '')
        .slice(0, RECIPIENTS_MAX)
        .map((address) => fact(address, 'delivered', '', textOf(delivery['smtpResponse'])));
    }
    case 'DeliveryDelay': {
      const delay = fieldsOf(notification['deliveryDelay']);
      return each(delay['delayedRecipients'], (address, recipient) =>
        fact(address, 'deferred', 'delayed', textOf(recipient['diagnosticCode']) || textOf(delay['delayType'])),
      );
    }
    case 'Reject':
      return everybody
        .slice(0, RECIPIENTS_MAX)
        .map((address) => fact(address, 'rejected', 'reject', textOf(fieldsOf(notification['reject'])['reason'])));
    case 'Rendering Failure':
      return everybody
        .slice(0, RECIPIENTS_MAX)
        .map((address) =>
          fact(address, 'rejected', 'rendering', textOf(fieldsOf(notification['failure'])['errorMessage'])),
        );
    default:
      return [];
  }
}

/** Bounce subtypes with which SES itself rejects the address, for example because of its own suppression list. */
const REFUSED_BY_SES: ReadonlySet<string> = new Set([
  'Suppressed',
  'OnAccountSuppressionList',
  'UnsubscribedRecipient',
]);

/** Returns whether the address caused a bounce. SES reports every 5xx as permanent, even a rate limit. */
function isOfAddress(subKind: string, { status, diagnosticCode }: Fields): boolean {
  const said = textOf(diagnosticCode);
  return said === '' || REFUSED_BY_SES.has(subKind) || refusesAddress(statusOfField(textOf(status)), said);
}

function each(list: unknown, make: (address: string, recipient: Fields) => SesFact): SesFact[] {
  return listOf(list)
    .slice(0, RECIPIENTS_MAX)
    .map(fieldsOf)
    .map((recipient) => ({ recipient, address: textOf(recipient['emailAddress']) }))
    .filter(({ address }) => address !== '')
    .map(({ recipient, address }) => make(/<([^<>]{1,320})>\s{0,5}$/.exec(address)?.[1] ?? address, recipient));
}

function aboutOf(mail: Fields): SesNotification['about'] {
  const headers = listOf(mail['headers'])
    .map(fieldsOf)
    .filter((header) => /^message-id$/i.test(textOf(header['name'])))
    .map((header) => textOf(header['value']));
  const messageIds = [...headers, textOf(fieldsOf(mail['commonHeaders'])['messageId'])]
    .map((id) => id.replace(/^<|>$/g, ''))
    .filter((id) => id !== '');
  return {
    emailIds: listOf(fieldsOf(mail['tags'])[SES_TAG])
      .map(textOf)
      .filter((id) => id !== ''),
    source: /<([^<>]{1,320})>\s{0,5}$/.exec(textOf(mail['source']))?.[1] ?? textOf(mail['source']),
    messageIds: [...new Set(messageIds)].slice(0, 10),
    sesId: textOf(mail['messageId']).slice(0, 200),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value.slice(0, 1_000) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 4_096) : '');

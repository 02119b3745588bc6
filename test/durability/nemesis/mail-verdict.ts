/** A message to the alias. If it was not answered with 250, it may be stored completely or not at all. */
export interface Letter {
  subject: string;
  text: string;
  sizeBytes: number;
  isAccepted: boolean;
}

/** An email to a recipient used by no other email. */
export interface Emailed {
  to: string;
  text: string;
  isAccepted: boolean;
  /** An unexpected answer to the email, or null. */
  refusal: string | null;
}

/** Observations about the mail of a round, made outside of the service. */
export interface MailEvidence {
  letters: readonly Letter[];
  emails: readonly Emailed[];
  /** Events that the alias's destination got, including those of other rounds. */
  events: readonly { id: string; subject: string; text: string; sizeBytes: number }[];
  /** Emails that the relay accepted, including those of other rounds. */
  relayed: readonly { to: readonly string[]; raw: string }[];
}

/** The result for the mail of a round. */
export interface MailVerdict {
  received: number;
  sent: number;
  lost: number;
  corrupted: number;
  /** Number of messages that became two events. */
  doubled: number;
  /** Number of emails that the relay got again with the same bytes, as at-least-once delivery allows. */
  repeated: number;
  wrongs: string[];
}

export function judgeMail({ letters, emails, events, relayed }: MailEvidence): MailVerdict {
  const bySubject = grouped(events, ({ subject }) => subject);
  const byRecipient = grouped(relayed, ({ to }) => to.join());
  const eventsOf = ({ subject }: Letter): readonly MailEvidence['events'][number][] => bySubject.get(subject) ?? [];
  const copiesOf = ({ to }: Emailed): readonly MailEvidence['relayed'][number][] => byRecipient.get(to) ?? [];
  const lostLetters = letters.filter((letter) => letter.isAccepted && eventsOf(letter).length === 0).length;
  const lostEmails = emails.filter((email) => email.isAccepted && copiesOf(email).length === 0).length;
  const alteredLetters = letters.filter((letter) =>
    eventsOf(letter).some(({ text, sizeBytes }) => text !== letter.text || sizeBytes !== letter.sizeBytes),
  ).length;
  const alteredEmails = emails.filter((email) =>
    copiesOf(email).some(({ raw }) => !raw.includes(email.text) || raw !== copiesOf(email)[0]?.raw),
  ).length;
  const doubled = letters.filter((letter) => new Set(eventsOf(letter).map(({ id }) => id)).size > 1).length;
  const repeated = emails.reduce((sum, email) => sum + Math.max(0, copiesOf(email).length - 1), 0);
  const claims: [string, number][] = [
    ['messages that were answered 250 were lost', lostLetters],
    ['emails that were answered 202 never left', lostEmails],
    ['messages arrived altered', alteredLetters],
    ['emails left altered, or with other bytes than before', alteredEmails],
    ['messages became two events', doubled],
    ['messages were never taken', letters.filter(({ isAccepted }) => !isAccepted).length],
    ['emails were never taken', emails.filter(({ isAccepted }) => !isAccepted).length],
  ];
  return {
    received: letters.filter(({ isAccepted }) => isAccepted).length,
    sent: emails.filter(({ isAccepted }) => isAccepted).length,
    lost: lostLetters + lostEmails,
    corrupted: alteredLetters + alteredEmails,
    doubled,
    repeated,
    wrongs: claims.filter(([, count]) => count > 0).map(([claim, count]) => `${count} ${claim}`),
  };
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** A message to the alias. Not accepted means that nobody was told 250: then it may be there, whole, or not. */
export interface Letter {
  subject: string;
  text: string;
  sizeBytes: number;
  isAccepted: boolean;
}

/** An email to a recipient that nobody else has. */
export interface Emailed {
  to: string;
  text: string;
  isAccepted: boolean;
  /** An answer that none should get. */
  refusal: string | null;
}

/** What is known of the mail of a round, seen from outside of the service. */
export interface MailEvidence {
  letters: readonly Letter[];
  emails: readonly Emailed[];
  /** Events that the alias's destination got, of other rounds too. */
  events: readonly { id: string; subject: string; text: string; sizeBytes: number }[];
  /** What the relay took, of other rounds too. */
  relayed: readonly { to: readonly string[]; raw: string }[];
}

/** What the mail of a round came to. */
export interface MailVerdict {
  received: number;
  sent: number;
  lost: number;
  corrupted: number;
  /** Messages that became two events. */
  doubled: number;
  /** Emails that the relay got again, with the same bytes: at least once. */
  repeated: number;
  wrongs: string[];
}

/** Compares mail that was accepted with what came of it. */
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

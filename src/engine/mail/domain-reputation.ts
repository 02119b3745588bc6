/** Number of recipients of a domain's mail in a time window. */
export interface MailCounts {
  /** Number of recipients whose mail a server accepted or permanently rejected. */
  sent: number;
  delivered: number;
  /** Permanent bounces, at submission or later. */
  bounced: number;
  /** Number of recipients who reported the mail as spam. */
  complained: number;
}

/**
 * Limits for the bounce and complaint rates, as fractions of `sent`. With a pause limit of null, the rate never pauses
 * the domain.
 */
export interface ReputationThresholds {
  bounceWarning: number;
  bouncePause: number | null;
  complaintWarning: number;
  complaintPause: number | null;
  /** Minimum value of `sent`. Below it, the rates are ignored and the domain is `healthy`. */
  sentMin: number;
}

/** `at_risk`: a rate reached its warning limit. `paused`: a rate reached its pause limit, and no mail is sent. */
export type Reputation = (typeof REPUTATIONS)[number];

export const REPUTATIONS = ['healthy', 'at_risk', 'paused'] as const;

export type ReputationCause = (typeof REPUTATION_CAUSES)[number];

export const REPUTATION_CAUSES = ['bounce_rate', 'complaint_rate'] as const;

/** Default limits: those at which Amazon SES reviews or pauses an account. */
export const THRESHOLDS_DEFAULT: ReputationThresholds = {
  bounceWarning: 0.05,
  bouncePause: 0.1,
  complaintWarning: 0.001,
  complaintPause: 0.005,
  sentMin: 100,
};

/**
 * Returns a domain's reputation and its cause. If both rates reach a limit of the same severity, the cause is
 * complaints.
 */
export function judgeReputation(
  { sent, bounced, complained }: MailCounts,
  { bounceWarning, bouncePause, complaintWarning, complaintPause, sentMin }: ReputationThresholds,
): { reputation: Reputation; cause: ReputationCause | null } {
  if (sent < sentMin) return { reputation: 'healthy', cause: null };
  const reaches = (count: number, limit: number | null): boolean =>
    limit !== null && count > 0 && count / sent >= limit;
  if (reaches(complained, complaintPause)) return { reputation: 'paused', cause: 'complaint_rate' };
  if (reaches(bounced, bouncePause)) return { reputation: 'paused', cause: 'bounce_rate' };
  if (reaches(complained, complaintWarning)) return { reputation: 'at_risk', cause: 'complaint_rate' };
  if (reaches(bounced, bounceWarning)) return { reputation: 'at_risk', cause: 'bounce_rate' };
  return { reputation: 'healthy', cause: null };
}

/** Returns a rate with six decimals, or null without any recipients. */
export function rateOf(count: number, sent: number): number | null {
  return sent === 0 ? null : Math.round((count / sent) * 1_000_000) / 1_000_000;
}

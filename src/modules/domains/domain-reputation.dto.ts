import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsNumber, IsOptional, Max, Min } from 'class-validator';
import {
  rateOf,
  type Reputation,
  REPUTATION_CAUSES,
  type ReputationCause,
  REPUTATIONS,
  type ReputationThresholds,
  THRESHOLDS_DEFAULT,
} from '#engine/mail/domain-reputation.js';
import { CanBeNull, CanBeOmitted, IsDateTime, IsObjectOf } from '#http/validation.js';
import { type Fault, invalid } from '#kernel/errors.js';
import type { WindowCounts } from './domain-mail-counts.store.js';
import type { ReputationView } from './domain-reputations.js';

const SENT_MIN_MAX = 1_000_000;

/** Limits for the bounce and complaint rates, as fractions of the recipients: 0.05 means 5 %. */
export class ThresholdsBody {
  /** Bounce rate at which the domain is `at_risk`. */
  @ApiProperty({ default: 0.05, example: 0.05 })
  @CanBeOmitted()
  @IsNumber()
  @Min(0)
  @Max(1)
  bounce_rate_warning?: number;

  /** Bounce rate at which the domain is paused. If null, bounces never pause the domain. */
  @ApiProperty({ default: 0.1, example: 0.15 })
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  bounce_rate_pause?: number | null;

  /** Complaint rate at which the domain is `at_risk`. */
  @ApiProperty({ default: 0.001, example: 0.001 })
  @CanBeOmitted()
  @IsNumber()
  @Min(0)
  @Max(1)
  complaint_rate_warning?: number;

  /** Complaint rate at which the domain is paused. If null, complaints never pause the domain. */
  @ApiProperty({ default: 0.005, example: 0.005 })
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  complaint_rate_pause?: number | null;

  /** Number of recipients in 24 hours below which the rates have no effect. */
  @ApiProperty({ default: 100, example: 100 })
  @CanBeOmitted()
  @IsInt()
  @Min(1)
  @Max(SENT_MIN_MAX)
  minimum_sent?: number;
}

/** Limits for the bounce and complaint rates, as fractions of the recipients: 0.05 means 5 %. */
export class ThresholdsItem {
  /** Bounce rate at which the domain is `at_risk`. */
  @ApiProperty({ example: 0.05 })
  @IsNumber()
  bounce_rate_warning: number;

  /** Bounce rate at which the domain is paused. If null, bounces never pause the domain. */
  @ApiProperty({ example: 0.1 })
  @CanBeNull()
  @IsNumber()
  bounce_rate_pause: number | null;

  /** Complaint rate at which the domain is `at_risk`. */
  @ApiProperty({ example: 0.001 })
  @IsNumber()
  complaint_rate_warning: number;

  /** Complaint rate at which the domain is paused. If null, complaints never pause the domain. */
  @ApiProperty({ example: 0.005 })
  @CanBeNull()
  @IsNumber()
  complaint_rate_pause: number | null;

  /** Number of recipients in 24 hours below which the rates have no effect. */
  @ApiProperty({ example: 100 })
  @IsInt()
  minimum_sent: number;
}

/** Recipients of the domain's mail in a time window. */
export class MailVolumeItem {
  /** Recipients whose mail was accepted or permanently rejected by a mail server. */
  @ApiProperty({ example: 2400 })
  @IsInt()
  sent: number;

  /** Recipients whose mail was delivered. A later bounce does not reduce this number. */
  @ApiProperty({ example: 2391 })
  @IsInt()
  delivered: number;

  /** Number of permanent bounces. */
  @ApiProperty({ example: 9 })
  @IsInt()
  bounced: number;

  /** Recipients who reported the mail as spam. */
  @ApiProperty({ example: 1 })
  @IsInt()
  complained: number;

  /** `bounced` divided by `sent`. Null if nothing was sent. */
  @ApiProperty({ example: 0.00375 })
  @CanBeNull()
  @IsNumber()
  bounce_rate: number | null;

  /** `complained` divided by `sent`. Null if nothing was sent. */
  @ApiProperty({ example: 0.000417 })
  @CanBeNull()
  @IsNumber()
  complaint_rate: number | null;
}

/** Mail volume, bounces and complaints of a domain. */
export class DomainReputationDetail {
  /** Reputation of the domain. The domain itself has the same value in `reputation`. */
  @ApiProperty({ example: 'healthy' })
  @IsIn(REPUTATIONS)
  reputation: Reputation;

  /** The rate that reached its limit. Null while the domain is `healthy`. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsIn(REPUTATION_CAUSES)
  cause: ReputationCause | null;

  /** Time of the last change of `reputation`. Null if it never changed. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  changed_at: string | null;

  /** Time at which the domain was last resumed. Only later mail counts toward the thresholds. Null if never resumed. */
  @ApiProperty({ example: null })
  @CanBeNull()
  @IsDateTime()
  resumed_at: string | null;

  /** Limits that currently apply to the bounce and complaint rates. */
  @IsObjectOf(() => ThresholdsItem)
  thresholds: ThresholdsItem;

  /** Mail volume of the last 24 hours, rounded to full hours. */
  @IsObjectOf(() => MailVolumeItem)
  last_24_hours: MailVolumeItem;

  /** Mail volume of the last seven days, rounded to full hours. */
  @IsObjectOf(() => MailVolumeItem)
  last_7_days: MailVolumeItem;
}

/** Returns the thresholds. Uses defaults for omitted ones. Throws 422 for a pause limit below its warning limit. */
export function thresholdsOf(body: ThresholdsBody): ReputationThresholds {
  const { bounceWarning, bouncePause, complaintWarning, complaintPause, sentMin } = THRESHOLDS_DEFAULT;
  const thresholds = {
    bounceWarning: body.bounce_rate_warning ?? bounceWarning,
    bouncePause: body.bounce_rate_pause === undefined ? bouncePause : body.bounce_rate_pause,
    complaintWarning: body.complaint_rate_warning ?? complaintWarning,
    complaintPause: body.complaint_rate_pause === undefined ? complaintPause : body.complaint_rate_pause,
    sentMin: body.minimum_sent ?? sentMin,
  };
  const faults: Fault[] = [
    ...orderFault('bounce_rate', thresholds.bounceWarning, thresholds.bouncePause),
    ...orderFault('complaint_rate', thresholds.complaintWarning, thresholds.complaintPause),
  ];
  if (faults.length > 0) throw invalid(faults);
  return thresholds;
}

export function presentReputation({ row, thresholds, windows }: ReputationView): DomainReputationDetail {
  const [day, week] = windows;
  return {
    reputation: row.reputation,
    cause: row.reputationCause,
    changed_at: row.reputationAt?.toISOString() ?? null,
    resumed_at: row.countsSince?.toISOString() ?? null,
    thresholds: {
      bounce_rate_warning: thresholds.bounceWarning,
      bounce_rate_pause: thresholds.bouncePause,
      complaint_rate_warning: thresholds.complaintWarning,
      complaint_rate_pause: thresholds.complaintPause,
      minimum_sent: thresholds.sentMin,
    },
    last_24_hours: presentVolume(day as WindowCounts),
    last_7_days: presentVolume(week as WindowCounts),
  };
}

function orderFault(rate: string, warning: number, pause: number | null): Fault[] {
  if (pause === null || pause >= warning) return [];
  return [{ path: `thresholds.${rate}_pause`, message: `must be at least ${rate}_warning, which is ${warning}` }];
}

function presentVolume({ sent, delivered, bounced, complained }: WindowCounts): MailVolumeItem {
  return {
    sent,
    delivered,
    bounced,
    complained,
    bounce_rate: rateOf(bounced, sent),
    complaint_rate: rateOf(complained, sent),
  };
}

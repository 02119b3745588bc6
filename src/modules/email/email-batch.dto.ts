import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsInt, IsString } from 'class-validator';
import { CanBeNull, CanBeOmitted, IsArrayOf, IsObjectOf } from '#http/validation.js';
import { showId } from '#kernel/ids.js';
import { EmailBody, SIMULATED } from './emails.dto.js';
import type { BatchOutcome } from './send-emails.js';

const ID = 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

/** Example batches that can be sent unchanged, by name. */
export const BATCH_EXAMPLES = {
  two: {
    summary: 'Two emails',
    value: {
      emails: ['delivered', 'bounced'].map((part) => ({ ...SIMULATED, to: `${part}@simulator.localhost` })),
    },
  },
};

/** Independent emails to send in one request. A JSON array of emails is also accepted. */
export class EmailBatchBody {
  /** The emails, 1 to 100. */
  @IsArrayOf(() => EmailBody)
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  emails: EmailBody[];
}

/** The reason why an email in a batch was not sent. */
export class EmailBatchError {
  /**
   * Error type, as in the response to a single email. `suppressed` if every recipient is on the suppression list or not
   * subscribed to the email's topic.
   */
  @ApiProperty({ example: 'validation_failed' })
  @IsString()
  type: string;

  /** Reason for the error, and how to fix it. */
  @ApiProperty({ example: 'to.0: An address has exactly one "@", as in name@example.com.' })
  @IsString()
  message: string;
}

/** The result for one email in a batch. */
export class EmailBatchItem {
  /** The email's id. `null` if the email was not accepted. */
  @ApiProperty({ example: ID })
  @CanBeNull()
  @IsString()
  id: string | null;

  /** Reason why the email was not sent. Absent if it was accepted. */
  @CanBeOmitted()
  @IsObjectOf(() => EmailBatchError)
  error?: EmailBatchError;
}

/** A rejected email in a permissive batch. */
export class EmailBatchFault {
  /** Position of the email in the request, starting at 0. */
  @ApiProperty({ example: 1 })
  @IsInt()
  index: number;

  /** Reason for the error, and how to fix it. */
  @ApiProperty({ example: 'to.0: An address has exactly one "@", as in name@example.com.' })
  @IsString()
  message: string;
}

/** The results of a batch. */
export class EmailBatchAccepted {
  /** One result for each email, in the order of the request. */
  @IsArrayOf(() => EmailBatchItem)
  data: EmailBatchItem[];

  /** The rejected emails. Present only with `x-batch-validation: permissive`. */
  @CanBeOmitted()
  @IsArrayOf(() => EmailBatchFault)
  errors?: EmailBatchFault[];
}

/** Returns the API representation of a batch. For a permissive batch, also lists rejected emails by their position. */
export function presentBatch(outcomes: readonly BatchOutcome[], isPermissive: boolean): EmailBatchAccepted {
  const errors = outcomes.flatMap((outcome, index) =>
    'error' in outcome ? [{ index, message: outcome.error.message }] : [],
  );
  return { data: outcomes.map(presentOutcome), ...(isPermissive && { errors }) };
}

const SUPPRESSED =
  "Every recipient is on the suppression list or not subscribed to the email's topic: nothing is sent. The email's timeline shows the reason.";

function presentOutcome(outcome: BatchOutcome): EmailBatchItem {
  if ('error' in outcome) {
    const { type, message } = outcome.error;
    return { id: null, error: { type: type === 'unavailable' ? 'internal' : type, message } };
  }
  const id = showId('evt', outcome.email.id);
  if (outcome.email.status !== 'suppressed') return { id };
  return { id, error: { type: 'suppressed', message: SUPPRESSED } };
}

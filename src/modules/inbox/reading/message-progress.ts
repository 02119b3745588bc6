import { Injectable } from '@nestjs/common';
import { isStorageAway } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { MailPace } from '../intake/mail-pace.js';
import { type Decided, type WaitingMessage, WaitingMessagesStore } from './waiting-messages.store.js';

const GROUP_MESSAGES_MAX = 64;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** Minimum time between two commits. Messages processed in between share a commit. */
const GAP_MS = 4;
/**
 * Time to wait for more messages before a commit, while mail is rate limited. A commit costs as much as ten messages,
 * so large groups save CPU time.
 */
const PACED_LINGER_MS = 100;

/**
 * A pending write for one message: the decision on its delivery or, if `decided` is null, the completion of a message
 * whose event exists.
 */
interface Step {
  message: WaitingMessage;
  decided: Decided | null;
}

/**
 * Group commit of the mail pipeline. Each write stores the decision on a message's delivery, or marks a message as
 * complete. The writes of many messages share a commit.
 */
@Injectable()
export class MessageProgress {
  private readonly group: GroupCommit<Step, boolean>;

  constructor(
    private readonly store: WaitingMessagesStore,
    pace: MailPace,
  ) {
    this.group = new GroupCommit({
      write: (steps) => this.write(steps),
      isOfOne: (error) => !isStorageAway(error),
      itemsMax: GROUP_MESSAGES_MAX,
      weigh: ({ decided }) => weightOf(decided),
      weightMax: GROUP_BYTES_MAX,
      get lingerMs() {
        return pace.isPaced ? PACED_LINGER_MS : 0;
      },
      gapMs: GAP_MS,
    });
  }

  /**
   * Stores the decision on a message, which is then final. Returns false if another worker has meanwhile claimed the
   * message.
   */
  decide(message: WaitingMessage, decided: Decided): Promise<boolean> {
    return this.group.add({ message, decided });
  }

  async settle(message: WaitingMessage): Promise<void> {
    await this.group.add({ message, decided: null });
  }

  private async write(steps: Step[]): Promise<boolean[]> {
    const decided = steps.filter((step): step is Step & { decided: Decided } => step.decided !== null);
    const ours = await this.store.progress({
      decided,
      settled: steps.filter((step) => step.decided === null).map(({ message }) => message),
    });
    return steps.map(({ message, decided: own }) => own === null || ours.has(message.id));
  }
}

function weightOf(decided: Decided | null): number {
  if (decided === null) return 0;
  const { text, html, headerLines } = decided.detail;
  return (
    512 +
    (text?.length ?? 0) +
    (html?.length ?? 0) +
    headerLines.reduce((bytes, { name, value }) => bytes + name.length + value.length, 0)
  );
}

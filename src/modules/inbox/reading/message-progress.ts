import { Injectable } from '@nestjs/common';
import { isStorageAway } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { MailPace } from '../intake/mail-pace.js';
import { type Decided, type WaitingMessage, WaitingMessagesStore } from './waiting-messages.store.js';

const GROUP_MESSAGES_MAX = 64;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;
/** As where mail is accepted: messages that are read together are written together. */
const GAP_MS = 4;
/**
 * Where mail yields to deliveries it waits for company: a commit of one message costs the disk as much as one of ten.
 */
const PACED_LINGER_MS = 100;

/** One step of one message; without a decision its event is there. */
interface Step {
  message: WaitingMessage;
  decided: Decided | null;
}

/** The group commit of the pipeline: what is decided of some messages and the end of others are written together. */
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

  /** What is decided stays so once this resolves. False where it is no longer this worker's. */
  decide(message: WaitingMessage, decided: Decided): Promise<boolean> {
    return this.group.add({ message, decided });
  }

  /** Its event is there: it is `processed`, or `quarantined`. */
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

/** What stands in its row: texts, and the lines of its header section. */
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

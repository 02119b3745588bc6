import { Injectable } from '@nestjs/common';
import { isStorageAway } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { type EmailChange, EmailsStore } from './emails.store.js';

const GROUP_CHANGES_MAX = 128;
/** Under load one commit instead of several: an attempt that is over may wait so long for its turn. */
const GAP_MS = 8;

/** The group commit of what became of emails: changes of rows from which nothing else follows. */
@Injectable()
export class EmailChanges {
  private readonly group: GroupCommit<EmailChange, boolean>;

  constructor(private readonly emails: EmailsStore) {
    this.group = new GroupCommit({
      write: (changes) => this.emails.change(changes, false),
      isOfOne: (error) => !isStorageAway(error),
      itemsMax: GROUP_CHANGES_MAX,
      weigh: () => 1,
      weightMax: GROUP_CHANGES_MAX,
      lingerMs: 0,
      gapMs: GAP_MS,
    });
  }

  /** Resolves once it is committed: false where the row is not what was read any more. Throws while storage is away. */
  make(change: EmailChange): Promise<boolean> {
    return this.group.add(change);
  }
}

import { Injectable } from '@nestjs/common';
import { isStorageAway } from '#kernel/database/database.js';
import { GroupCommit } from '#kernel/database/group-commit.js';
import { type EmailChange, EmailsStore } from './emails.store.js';

const GROUP_CHANGES_MAX = 128;
/** Maximum time in milliseconds for which a change waits for other changes, to share one commit with them. */
const GAP_MS = 8;

/** Commits changes to emails in groups. Used only for changes that affect a single email and no other data. */
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

  /** Resolves once the change is committed, or with false on an optimistic-lock conflict. Throws if storage fails. */
  make(change: EmailChange): Promise<boolean> {
    return this.group.add(change);
  }
}

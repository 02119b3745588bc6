import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { AttachedContents } from '#modules/events/erasure/erased-contents.js';
import { CanceledEmailsStore } from './canceled-emails.store.js';
import { EmailStates } from './email-states.js';
import { EmailsStore } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

/** Erases a stored email when the payload of its event is erased. Reports canceled emails, which have no content. */
@Injectable()
export class EmailErasure implements OnModuleInit {
  constructor(
    private readonly contents: AttachedContents,
    private readonly states: EmailStates,
    private readonly emails: EmailsStore,
    private readonly canceled: CanceledEmailsStore,
    private readonly raw: RawEmails,
  ) {}

  onModuleInit(): void {
    this.contents.attach(
      (environmentId, eventId) => this.erase(environmentId, eventId),
      (environmentId, events) => this.canceled.among(environmentId, events),
    );
  }

  /** Erases the row before the raw message, so that no later attempt reads the message. */
  private async erase(environmentId: number, id: Id): Promise<void> {
    const known = await this.states.find(environmentId, id);
    if (known === null) return;
    await this.emails.erase(environmentId, id);
    await this.raw.remove(environmentId, id);
  }
}

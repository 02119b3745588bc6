import { Injectable } from '@nestjs/common';
import { ApiError, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { SignedViews } from '#modules/inbox/messages/signed-views.js';
import { ThreadedMailReading } from '#modules/inbox/reading/mail-reading-threads.js';
import { type FileNote, type MailContents, type MailView } from '#modules/inbox/viewing.contract.js';
import { EmailsService } from './emails.service.js';
import { SentEmails } from './sent-emails.js';

/** Reads emails by parsing the exact bytes that are sent. */
@Injectable()
export class EmailContents {
  constructor(
    private readonly emails: EmailsService,
    private readonly sent: SentEmails,
    private readonly reading: ThreadedMailReading,
    private readonly views: SignedViews,
  ) {}

  /** Throws 404 if the email is unknown, erased or not composed yet, and 503 if there is no capacity to parse it. */
  async read(tenant: Tenant, text: string): Promise<{ id: Id; contents: MailContents }> {
    const id = await this.composed(tenant, text);
    const contents = await this.reading.contents(tenant.environmentId, () => this.sent.rawOf(tenant.environmentId, id));
    if (contents === null) throw gone();
    return { id, contents };
  }

  /** Returns a decoded attachment. Throws the same errors as `read`. */
  async file(tenant: Tenant, text: string, place: string): Promise<{ note: FileNote; content: Uint8Array }> {
    const id = await this.composed(tenant, text);
    const index = /^\d{1,4}$/.test(place) ? Number(place) : -1;
    const found =
      index < 0
        ? null
        : await this.reading.attachment(tenant.environmentId, () => this.sent.rawOf(tenant.environmentId, id), index);
    if (found === null) throw noSuch('attachment');
    return found;
  }

  /** Issues a signed link to the HTML. Throws like `read`. Only opening the link checks whether there is HTML. */
  async view(tenant: Tenant, text: string): Promise<MailView> {
    return this.views.issue({
      environmentId: tenant.environmentId,
      id: await this.composed(tenant, text),
      aliasId: null,
    });
  }

  private async composed(tenant: Tenant, text: string): Promise<Id> {
    const { email } = await this.emails.find(tenant, text);
    if (email.sizeBytes === 0 || email.erasedAt !== null) throw gone();
    return email.id;
  }
}

function gone(): ApiError {
  return new ApiError(
    'not_found',
    'There is no message: it was erased, could not be composed, or is scheduled and will be composed when it is sent.',
  );
}

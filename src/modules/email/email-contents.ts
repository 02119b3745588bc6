import { Injectable } from '@nestjs/common';
import { ApiError, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { SignedViews } from '#modules/inbox/messages/signed-views.js';
import { ThreadedMailReading } from '#modules/inbox/reading/mail-reading-threads.js';
import { type FileNote, type MailContents, type MailView } from '#modules/inbox/viewing.contract.js';
import { EmailsService, type EmailView } from './emails.service.js';
import { SentEmails } from './sent-emails.js';
import { SignedDownloads } from './signed-downloads.js';

/** An attachment, with a download link that needs no key. */
export interface LinkedFile {
  index: number;
  note: FileNote;
  url: string;
  expiresAt: Date;
}

/** HTML and text of an email. */
export type EmailBodies = Pick<MailContents, 'html' | 'text'>;

const NO_BODIES: EmailBodies = { html: null, text: null };

/** Reads the contents of emails by parsing the sent messages. */
@Injectable()
export class EmailContents {
  constructor(
    private readonly emails: EmailsService,
    private readonly sent: SentEmails,
    private readonly reading: ThreadedMailReading,
    private readonly views: SignedViews,
    private readonly downloads: SignedDownloads,
  ) {}

  /** Returns the HTML and the text. Both are null if the message does not exist. Throws 503 if the parser is busy. */
  async bodiesOf(tenant: Tenant, { email, draft }: EmailView): Promise<EmailBodies> {
    if (draft !== null) return { html: draft.html, text: draft.text };
    if (email.sizeBytes === 0 || email.erasedAt !== null) return NO_BODIES;
    const contents = await this.contentsOf(tenant.environmentId, email.id);
    return contents === null ? NO_BODIES : { html: contents.html, text: contents.text };
  }

  /** Returns all attachments with links. Throws 404 if the email has no contents, and 503 if the parser is busy. */
  async links(tenant: Tenant, text: string): Promise<LinkedFile[]> {
    const { id, contents } = await this.read(tenant, text);
    return contents.attachments.map((note, index) => ({
      index,
      note,
      ...this.downloads.issue({ environmentId: tenant.environmentId, id, index }),
    }));
  }

  /** Returns one attachment with a link. Throws 404 if it does not exist, and 503 if the parser is busy. */
  async link(tenant: Tenant, text: string, index: number): Promise<LinkedFile> {
    const found = (await this.links(tenant, text))[index];
    if (found === undefined) throw noSuch('attachment');
    return found;
  }

  /**
   * Returns the attachment that a token identifies. Throws 404 if the token is invalid or expired, or the file is gone.
   */
  async fileOf(token: string): Promise<{ note: FileNote; content: Uint8Array }> {
    const named = this.downloads.read(token);
    const found =
      named &&
      (await this.reading.attachment(
        named.environmentId,
        () => this.sent.rawOf(named.environmentId, named.id),
        named.index,
      ));
    if (!found) throw noSuch('attachment, or the link has expired');
    return found;
  }

  /**
   * Returns an email's contents. Throws 404 if it is unknown, erased or not composed yet. Throws 503 if the parser is
   * busy.
   */
  async read(tenant: Tenant, text: string): Promise<{ id: Id; contents: MailContents }> {
    const id = await this.composed(tenant, text);
    const contents = await this.contentsOf(tenant.environmentId, id);
    if (contents === null) throw gone();
    return { id, contents };
  }

  /** Returns a decoded attachment. Throws 404 if it does not exist, and 503 if the parser is busy. */
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

  /**
   * Issues a signed link to an email's HTML, even if the email has no HTML. Throws 404 if the email is unknown, erased
   * or not composed yet. Throws 503 if the parser is busy.
   */
  async view(tenant: Tenant, text: string): Promise<MailView> {
    return this.views.issue({
      environmentId: tenant.environmentId,
      id: await this.composed(tenant, text),
      aliasId: null,
    });
  }

  private contentsOf(environmentId: number, id: Id): Promise<MailContents | null> {
    return this.reading.contents(environmentId, () => this.sent.rawOf(environmentId, id));
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
    'There is no message: it was erased or canceled, could not be composed, or is scheduled and will be composed when it is sent.',
  );
}

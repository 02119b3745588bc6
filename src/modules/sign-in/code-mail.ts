import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { OwnMail } from './own-mail.js';

/** Mails sign-in codes. A code expires after ten minutes and is stored only as a hash. */
@Injectable()
export class CodeMail {
  constructor(
    private readonly mail: OwnMail,
    private readonly config: Config,
  ) {}

  get isPossible(): boolean {
    return this.mail.isPossible;
  }

  /** Mails a code. Never throws, because the page must not reveal whether a mail was sent. */
  send(to: string, code: string): Promise<void> {
    return this.mail.send({
      to,
      subject: `${code} is your code for Posthorn`,
      text: textOf(code, this.config.baseUrl),
      what: 'A sign-in code',
    });
  }
}

function textOf(code: string, baseUrl: string): string {
  return `${code} is your code for ${baseUrl}. It can be used once, within ten minutes, in the browser that asked for it.

Nobody but the sign-in page needs it. If you did not ask for it, somebody typed your address: you need not do anything.
`;
}

import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { OwnMail } from '#modules/sign-in/own-mail.contract.js';

/** Mails codes. A code is stored nowhere, and is worth nothing after ten minutes. */
@Injectable()
export class CodeMail {
  constructor(
    private readonly mail: OwnMail,
    private readonly config: Config,
  ) {}

  /** Whether mail leaves this installation at all, and there is a name for it to leave in. */
  get isPossible(): boolean {
    return this.mail.isPossible;
  }

  /** Never throws: what the page says must not depend on whether somebody got mail. */
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

import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { domainOf } from '#engine/mail/addresses.js';
import { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { invalid } from '#kernel/errors.js';
import { type Id, idBytes, idFromBytes } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { Topics } from '#modules/topics/topics.js';
import { type CompleteDraft, type EmailDraft, TEXT_BYTES_MAX } from './email-draft.js';
import type { UnsubscribeRequest } from './unsubscribe-request.js';

/** The data in the token of an unsubscribe link. */
export interface UnsubscribeLink {
  environmentId: number;
  emailId: Id;
  /** Null if the link unsubscribes from all emails of the environment. */
  topicId: Id | null;
  address: string;
  /** Domain of the email's sender, which the unsubscribe page shows. */
  senderDomain: string;
}

const TOKEN = /^[A-Za-z0-9_-]{60,1000}$/;
const MAC_BYTES = 16;
const ID_BYTES = 16;
/** Length of a token's fixed part in bytes: environment, email, and a byte that is 1 if a topic id follows. */
const FIXED_BYTES = 4 + ID_BYTES + 1;
/** Stands for the id of an email that has none yet. The length of a link does not depend on the id. */
const ANY_ID: Id = '00000000-0000-0000-0000-000000000000';
const ONE_CLICK = 'List-Unsubscribe=One-Click';
const REPLACED_HEADERS = /^list-unsubscribe(?:-post)?$/i;
/** Placeholders for the link's URL: Posthorn's own placeholder, and the placeholder that Resend uses. */
const PLACEHOLDERS = /\{\{\{?\s*unsubscribe_url\s*\}?\}\}|\{\{\{\s*RESEND_UNSUBSCRIBE_URL\s*\}\}\}/g;

/**
 * Issues unsubscribe links. A link contains an encrypted, authenticated token. The encryption hides the recipient's
 * address from the logs of proxies. Nothing is stored, so a link works as long as the installation exists. The URL also
 * contains the organization's slug, so that a router in front of several installations (cells) can choose one.
 *
 * The token consists of a synthetic IV (as in RFC 5297, with HMAC-SHA-256) and the AES-256-CTR ciphertext. It needs no
 * random nonce, which could repeat.
 */
@Injectable()
export class UnsubscribeLinks {
  private keys: { mac: Buffer; encryption: Buffer } | null = null;

  constructor(
    @Inject(Keyring) private readonly keyring: Pick<Keyring, 'derived'>,
    @Inject(Config) private readonly config: Pick<Config, 'baseUrl'>,
    @Inject(Environments) private readonly environments: Pick<Environments, 'get'>,
    @Inject(Topics) private readonly topics: Pick<Topics, 'idOf'>,
  ) {}

  /** Returns the unsubscribe request with the topic's id. Throws 422 for an unknown topic. */
  async resolve(environmentId: number, request: UnsubscribeRequest | null): Promise<{ topicId: Id | null } | null> {
    if (request === null || request.topic === null) return request && { topicId: null };
    const topicId = await this.topics.idOf(environmentId, request.topic);
    if (topicId !== null) return { topicId };
    const message = `There is no topic ${request.topic}. Create it with POST /v1/topics.`;
    throw invalid([{ path: 'unsubscribe.topic', message }]);
  }

  /**
   * Throws 422 if `html` or `text` exceeds the limit of a body after its placeholders are replaced by links. Only
   * computes the sizes, because many placeholders in a large body would make a result of many megabytes.
   */
  async refuseTooLarge(
    environmentId: number,
    { from, to, cc, bcc, html, text }: Pick<EmailDraft, 'from' | 'to' | 'cc' | 'bcc' | 'html' | 'text'>,
    unsubscribe: { topicId: Id | null } | null,
  ): Promise<void> {
    const [recipient] = [...to, ...cc, ...bcc];
    if (unsubscribe === null || recipient === undefined) return;
    const link = { environmentId, emailId: ANY_ID, address: recipient.address, senderDomain: domainOf(from.address) };
    const { length } = await this.urlOf({ ...link, topicId: unsubscribe.topicId });
    const faults = Object.entries({ html, text })
      .filter(([, body]) => body !== null && bytesWithLinks(body, length) > TEXT_BYTES_MAX)
      .map(([path]) => ({
        path,
        message: `must have at most ${TEXT_BYTES_MAX} bytes with the unsubscribe link in it`,
      }));
    if (faults.length > 0) throw invalid(faults);
  }

  /** Returns an email's headers and bodies. Adds the recipient's unsubscribe link if the email requests one. */
  async addTo(
    { environmentId, id }: { environmentId: number; id: Id },
    { from, to, cc, bcc, headers, html, text, unsubscribe }: CompleteDraft,
  ): Promise<Pick<CompleteDraft, 'headers' | 'html' | 'text'>> {
    const [recipient] = [...to, ...cc, ...bcc];
    if (!unsubscribe || recipient === undefined) return { headers, html, text };
    const url = await this.urlOf({
      environmentId,
      emailId: id,
      topicId: unsubscribe.topicId,
      address: recipient.address,
      senderDomain: domainOf(from.address),
    });
    const kept = Object.entries(headers).filter(([name]) => !REPLACED_HEADERS.test(name));
    return {
      headers: {
        ...Object.fromEntries(kept),
        'List-Unsubscribe': `<${url}>`,
        'List-Unsubscribe-Post': ONE_CLICK,
      },
      html: html && html.replace(PLACEHOLDERS, url),
      text: text && text.replace(PLACEHOLDERS, url),
    };
  }

  async urlOf(link: UnsubscribeLink): Promise<string> {
    const { organizationSlug } = await this.environments.get(link.environmentId);
    return `${this.config.baseUrl}/u/${organizationSlug}/${this.seal(bytesOf(link))}`;
  }

  /** Returns the content of a token, or null if this installation did not issue the token. */
  read(token: string): UnsubscribeLink | null {
    const sealed = TOKEN.test(token) ? Buffer.from(token, 'base64url') : null;
    const bytes = sealed && this.open(sealed);
    return bytes && linkIn(bytes);
  }

  private seal(bytes: Buffer): string {
    const mac = this.macOf(bytes);
    const cipher = createCipheriv('aes-256-ctr', this.derived().encryption, mac);
    return Buffer.concat([mac, cipher.update(bytes), cipher.final()]).toString('base64url');
  }

  private open(sealed: Buffer): Buffer | null {
    const mac = sealed.subarray(0, MAC_BYTES);
    const decipher = createDecipheriv('aes-256-ctr', this.derived().encryption, mac);
    const bytes = Buffer.concat([decipher.update(sealed.subarray(MAC_BYTES)), decipher.final()]);
    return timingSafeEqual(mac, this.macOf(bytes)) ? bytes : null;
  }

  private macOf(bytes: Buffer): Buffer {
    return createHmac('sha256', this.derived().mac).update(bytes).digest().subarray(0, MAC_BYTES);
  }

  private derived(): { mac: Buffer; encryption: Buffer } {
    this.keys ??= {
      mac: this.keyring.derived('posthorn unsubscribe links v1, authentication'),
      encryption: this.keyring.derived('posthorn unsubscribe links v1, encryption'),
    };
    return this.keys;
  }
}

/** Returns the size of a body in bytes after its placeholders are replaced by URLs of a length. */
function bytesWithLinks(body: string, urlLength: number): number {
  let bytes = Buffer.byteLength(body);
  for (const [placeholder] of body.matchAll(PLACEHOLDERS)) bytes += urlLength - Buffer.byteLength(placeholder);
  return bytes;
}

function bytesOf({ environmentId, emailId, topicId, address, senderDomain }: UnsubscribeLink): Buffer {
  const fixed = Buffer.alloc(FIXED_BYTES);
  fixed.writeUInt32BE(environmentId);
  idBytes(emailId).copy(fixed, 4);
  fixed.writeUInt8(topicId === null ? 0 : 1, FIXED_BYTES - 1);
  const names = Buffer.from(`${address}\0${senderDomain}`);
  return Buffer.concat([fixed, ...(topicId === null ? [] : [idBytes(topicId)]), names]);
}

function linkIn(bytes: Buffer): UnsubscribeLink {
  const hasTopic = bytes.readUInt8(FIXED_BYTES - 1) === 1;
  const namesAt = FIXED_BYTES + (hasTopic ? ID_BYTES : 0);
  const [address = '', senderDomain = ''] = bytes.toString('utf8', namesAt).split('\0');
  return {
    environmentId: bytes.readUInt32BE(),
    emailId: idFromBytes(bytes.subarray(4, 4 + ID_BYTES)),
    topicId: hasTopic ? idFromBytes(bytes.subarray(FIXED_BYTES, namesAt)) : null,
    address,
    senderDomain,
  };
}

import { createHash, timingSafeEqual } from 'node:crypto';
import { headerOf, InboundPreset, ProviderPreset, type ReceivedRequest } from 'posthorn';

/** Webhooks of Acme Pay, which signs the time and the body with HMAC-SHA-256. */
@InboundPreset()
export class AcmePayPreset extends ProviderPreset {
  override readonly id = 'acme-pay';
  override readonly title = 'Acme Pay';
  override readonly secret = 'The signing secret of the webhook (acme_…).';
  override readonly retries = 'Acme Pay tries ten times within a day.';
  override readonly verification = 'hmac-sha256';
  override readonly verificationConfig = { header: 'acme-signature', timestampHeader: 'acme-time' };
  override readonly eventType = [[{ member: 'kind' }]];
  override readonly providerId = [[{ member: 'id' }]];
}

/** Webhooks of Acme's old shop, which signs with a hash instead of an HMAC. */
@InboundPreset()
export class AcmeShopPreset extends ProviderPreset {
  override readonly id = 'acme-shop';
  override readonly title = 'Acme Shop';
  override readonly secret = 'The shared secret of the shop.';
  override readonly retries = 'Acme Shop does not retry.';

  override verify(request: ReceivedRequest, secrets: readonly string[]): boolean {
    const given = Buffer.from(headerOf(request, 'acme-hash') ?? '', 'hex');
    return secrets.some((secret) => {
      const expected = createHash('sha256').update(secret).update(request.body).digest();
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }
}

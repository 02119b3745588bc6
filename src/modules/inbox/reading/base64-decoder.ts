import { Transform, type TransformCallback } from 'node:stream';

const PADDING = '='.charCodeAt(0);
const OTHER = /[^A-Za-z0-9+/]+/g;

/**
 * Decodes a base64 body (RFC 2045, section 6.8). Skips characters outside the alphabet. Ignores everything after the
 * padding, because mailing lists and gateways append plain-text footers there.
 */
export class Base64Decoder extends Transform {
  private left = '';
  private isPadded = false;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.isPadded) return done();
    const end = chunk.indexOf(PADDING);
    this.isPadded = end >= 0;
    const text = this.left + chunk.toString('latin1', 0, this.isPadded ? end : chunk.length).replace(OTHER, '');
    const whole = this.isPadded ? text.length : text.length - (text.length % 4);
    this.left = text.slice(whole);
    done(null, Buffer.from(text.slice(0, whole), 'base64'));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.isPadded ? null : Buffer.from(this.left, 'base64'));
  }
}

import { Transform, type TransformCallback } from 'node:stream';
import { decodeUuencoded } from '#engine/mail/uuencode.js';

/** Decodes a uuencoded body as a stream. Holds the body in memory, because any of its lines may be the first. */
export class UuencodeDecoder extends Transform {
  private readonly chunks: Buffer[] = [];

  constructor(private readonly isText: boolean) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.chunks.push(chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    done(null, decodeUuencoded(Buffer.concat(this.chunks), this.isText));
  }
}

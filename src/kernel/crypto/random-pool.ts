import { randomFillSync } from 'node:crypto';

const VALUES_PER_FILL = 256;

/**
 * Provides random values of a fixed size, cut from one large block. A system call for each value would cost more than
 * the use of the value.
 */
export class RandomPool {
  private readonly pool: Buffer;
  private offset: number;

  constructor(private readonly bytes: number) {
    this.pool = Buffer.allocUnsafe(bytes * VALUES_PER_FILL);
    this.offset = this.pool.length;
  }

  /** Returns the next value: a view of the block, which is only valid until the next call. */
  next(): Buffer {
    if (this.offset >= this.pool.length) {
      randomFillSync(this.pool);
      this.offset = 0;
    }
    this.offset += this.bytes;
    return this.pool.subarray(this.offset - this.bytes, this.offset);
  }
}

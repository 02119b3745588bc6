import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { BODY_BYTES_MAX } from '#modules/endpoints/contract.js';
import { RejectedBody, RequestBodies } from './request-bodies.js';

const MEGABYTE = 1024 * 1024;

/** Returns a request whose body arrives when the test writes it. */
function requestOf(length?: number): PassThrough & IncomingMessage {
  const headers = length === undefined ? {} : { 'content-length': String(length) };
  return Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage;
}

function read(
  bodies: RequestBodies,
  request: IncomingMessage,
  { organizationId = 'one', maxBodyBytes = BODY_BYTES_MAX } = {},
): Promise<Buffer | RejectedBody | undefined> {
  return new Promise((resolve, reject) =>
    bodies.read(request, { organizationId, maxBodyBytes }, (error, body) => (error ? reject(error) : resolve(body))),
  );
}

/** Sends a body of `length` bytes. Returns the request with its memory still reserved, or the error. */
async function send(
  bodies: RequestBodies,
  length: number,
  options = {},
  isChunked = false,
): Promise<IncomingMessage | string> {
  const request = requestOf(isChunked ? undefined : length);
  const body = read(bodies, request, options);
  request.end(Buffer.alloc(length));
  const got = await body;
  return got instanceof RejectedBody ? got.reason : request;
}

describe('RequestBodies', () => {
  it.each([true, false])('reads up to the limit; chunked: %s', async (isChunked) => {
    const options = { maxBodyBytes: 10 };

    expect(await send(new RequestBodies(), 10, options, isChunked)).toBeInstanceOf(PassThrough);
    expect(await send(new RequestBodies(), 11, options, isChunked)).toBe('too_large');
  });

  it('returns the bytes in order, and the size of a rejected body', async () => {
    const bodies = new RequestBodies();
    const [whole, rejected] = [requestOf(), requestOf()];

    const results = [read(bodies, whole), read(bodies, rejected, { maxBodyBytes: 5 })];
    whole.write('ab');
    whole.end('cd');
    rejected.write('abc');
    rejected.write('def');

    expect(await results[0]).toEqual(Buffer.from('abcd'));
    expect(await results[1]).toEqual(new RejectedBody('too_large', 6));
    expect(await read(bodies, requestOf(7), { maxBodyBytes: 5 })).toEqual(new RejectedBody('too_large', 7));
  });

  it.each([true, false])(
    'an organization holds two of the largest bodies, and all hold five; chunked: %s',
    async (isChunked) => {
      const bodies = new RequestBodies();
      const large = (organizationId: string): Promise<IncomingMessage | string> =>
        send(bodies, 2 * MEGABYTE, { organizationId, maxBodyBytes: 2 * MEGABYTE }, isChunked);
      const held = async (organizationId: string): Promise<(IncomingMessage | string)[]> =>
        Promise.all(Array.from({ length: 30 }, () => large(organizationId)));

      const [first, second, third] = [await held('one'), await held('two'), await held('three')];
      const counts = [first, second, third].map((all) => all.filter((one) => one !== 'busy').length);

      expect(counts).toEqual([25, 25, 12]);
      expect(await send(bodies, MEGABYTE, { organizationId: 'one' }, isChunked)).toBeInstanceOf(PassThrough);
      for (const request of first) if (typeof request !== 'string') bodies.release(request);
      expect(await large('one')).toBeInstanceOf(PassThrough);
    },
  );

  it.each([true, false])('takes room only for the bytes that have arrived; chunked: %s', async (isChunked) => {
    const bodies = new RequestBodies();
    const idle = Array.from({ length: 5 }, () => requestOf(isChunked ? undefined : BODY_BYTES_MAX));
    const results = idle.map((request, i) => read(bodies, request, { organizationId: `idle ${i}` }));
    for (const request of idle) request.write(Buffer.alloc(MEGABYTE + 1));
    await new Promise(setImmediate);

    expect(await send(bodies, BODY_BYTES_MAX, {}, isChunked)).toBeInstanceOf(PassThrough);
    for (const request of idle) request.end(Buffer.alloc(BODY_BYTES_MAX - MEGABYTE - 1));

    const ends = (await Promise.all(results)).map((body) => (body instanceof RejectedBody ? body.reason : 'read'));
    expect(ends.toSorted()).toEqual(['busy', 'read', 'read', 'read', 'read']);
  });

  it('makes room at once when it rejects a body', async () => {
    const bodies = new RequestBodies();
    const rejected = requestOf();
    const body = read(bodies, rejected, { maxBodyBytes: 24 * MEGABYTE });
    rejected.write(Buffer.alloc(24 * MEGABYTE));
    rejected.write('x');
    expect(await body).toEqual(new RejectedBody('too_large', 24 * MEGABYTE + 1));

    for (let i = 0; i < 2; i += 1) expect(await send(bodies, BODY_BYTES_MAX)).toBeInstanceOf(PassThrough);
  });

  it('releases the room of a request whose connection breaks, and releases it only once', async () => {
    const bodies = new RequestBodies();
    const options = { organizationId: 'one', maxBodyBytes: BODY_BYTES_MAX };
    for (let i = 0; i < 10; i += 1) {
      const request = requestOf(BODY_BYTES_MAX);
      const body = read(bodies, request, options);
      request.destroy(new Error('aborted'));
      await expect(body).rejects.toMatchObject({ message: 'aborted', statusCode: 400 });
      bodies.release(request);
    }

    const held = [];
    for (let i = 0; i < 3; i += 1) held.push(await send(bodies, BODY_BYTES_MAX, options));

    expect(held.map((one) => typeof one)).toEqual(['object', 'object', 'string']);
  });
});

import { type ApiError, unavailable } from '#kernel/errors.js';

/** 503 for a blob that cannot be stored or removed now. */
export const unwritable = (cause: unknown): ApiError =>
  Object.assign(unavailable('The message store is not writable. Nothing was accepted, send it again.'), { cause });

/** 503 for a blob that cannot be read now. It may still exist. */
export const unreadable = (cause: unknown): ApiError =>
  Object.assign(unavailable('The message store cannot be read now. Try again later.'), { cause });

import type { z } from 'zod';
import { badRequest } from '#kernel/errors.js';

/** Query parameters. `undefined` values are omitted. */
export type ApiQuery = Readonly<Record<string, string | number | boolean | undefined>>;

export type ApiObject = Record<string, unknown>;

/** An API path, created by `apiPath`. Each inserted value becomes one segment, so a value cannot change the path. */
export class ApiPath {
  private constructor(readonly text: string) {}

  /** Builds a path. Throws 400 for values that cannot be a segment: an empty value, `.` and `..`. */
  static from(parts: readonly string[], segments: readonly string[]): ApiPath {
    const encoded = segments.map((segment) => {
      if (segment === '' || segment === '.' || segment === '..' || segment.length > 512)
        throw badRequest('An id must not be empty.');
      return encodeURIComponent(segment);
    });
    return new ApiPath(parts.map((part, i) => part + (encoded[i] ?? '')).join(''));
  }
}

/** Builds a path of the API, as in ``apiPath`/v1/events/${id}` ``. */
export const apiPath = (parts: TemplateStringsArray, ...segments: string[]): ApiPath => ApiPath.from(parts, segments);

export interface TextPart {
  /** One part of the response body. `null` if the body is not text. */
  text: string | null;
  contentType: string;
  sizeBytes: number;
  /** Offset in characters at which the next part starts. `null` at the end of the text. */
  nextOffset: number | null;
}

/** API access of a read tool: only GET, with the caller's own API key. All methods throw the API's errors. */
export interface ApiReader {
  get(path: ApiPath, query?: ApiQuery): Promise<ApiObject>;

  /**
   * Returns one page of a list. The page has fewer items than requested if they would exceed the maximum size of an
   * answer.
   */
  page(path: ApiPath, query: ApiQuery): Promise<ApiObject>;

  /** Returns part of a body from character `offset`. Use it for bodies that are not JSON or must stay exact. */
  text(path: ApiPath, offset: number, charactersMax: number): Promise<TextPart>;

  /** Calls `look` once a second until it returns a result. Returns `null` after `seconds` (at most 25). */
  until<T>(seconds: number, look: () => Promise<T | null>): Promise<T | null>;
}

export interface ApiWriter extends ApiReader {
  /** Sends a POST request. With an `idempotencyKey` (a UUID), a repeated call is executed only once. */
  post(path: ApiPath, body: ApiObject | undefined, idempotencyKey: string | undefined): Promise<ApiObject>;
}

export interface ToolAnswer {
  content: ApiObject;
  /**
   * Fields that third parties wrote, such as `attempts[].response_excerpt`. The model treats them as data, not as
   * instructions.
   */
  untrusted?: readonly string[];
}

interface ToolTexts<Input extends z.ZodObject> {
  /** Unique name in snake_case. */
  name: string;
  title: string;
  /** Purpose, arguments and result of the tool in a few sentences: models have no other documentation. */
  description: string;
  /** Schema of the arguments, with a description for every field. */
  input: Input;
  /** Example of valid arguments, shown in the error for invalid ones. */
  example: z.input<Input>;
}

/** A tool that only reads. Its API access cannot change anything. */
export interface ReadTool<Input extends z.ZodObject = z.ZodObject> extends ToolTexts<Input> {
  run(api: ApiReader, args: z.output<Input>): Promise<ToolAnswer>;
}

/** A tool that changes something. It is listed only for keys with scope `write`. */
export interface WriteTool<Input extends z.ZodObject = z.ZodObject> extends ToolTexts<Input> {
  isDestructive: boolean;
  /** `true` if a repeated call has no further effect, regardless of the `idempotency_key`. */
  isIdempotent: boolean;
  run(api: ApiWriter, args: z.output<Input>): Promise<ToolAnswer>;
}

export type AgentTool = { kind: 'read'; tool: ReadTool } | { kind: 'write'; tool: WriteTool };

export const readTool = <Input extends z.ZodObject>(tool: ReadTool<Input>): AgentTool => ({
  kind: 'read',
  tool: tool as unknown as ReadTool,
});

export const writeTool = <Input extends z.ZodObject>(tool: WriteTool<Input>): AgentTool => ({
  kind: 'write',
  tool: tool as unknown as WriteTool,
});

/** Extension point for tools of `/mcp`, in any module. Two tools with the same name make the start fail. */
export abstract class AgentTools {
  abstract readonly tools: readonly AgentTool[];
}

import type { z } from 'zod';
import { badRequest } from '#kernel/errors.js';

/** Values of a query string; what is undefined is left out. */
export type ApiQuery = Readonly<Record<string, string | number | boolean | undefined>>;

/** What a JSON object of the API was parsed to. */
export type ApiObject = Record<string, unknown>;

/** A path of the API whose values are one segment each: no value leads anywhere else. Made by `apiPath`. */
export class ApiPath {
  private constructor(readonly text: string) {}

  /** Throws 400 for a value that is no segment: an empty one, `.` and `..`. */
  static from(parts: readonly string[], segments: readonly string[]): ApiPath {
    const encoded = segments.map((segment) => {
      if (segment === '' || segment === '.' || segment === '..' || segment.length > 512)
        throw badRequest('An id must not be empty.');
      return encodeURIComponent(segment);
    });
    return new ApiPath(parts.map((part, i) => part + (encoded[i] ?? '')).join(''));
  }
}

/** A path of the API, as in ``apiPath`/v1/events/${id}` ``. */
export const apiPath = (parts: TemplateStringsArray, ...segments: string[]): ApiPath => ApiPath.from(parts, segments);

/** Bytes of the API as text, as far as they were asked for. */
export interface TextPart {
  /** Null where the bytes are no text. */
  text: string | null;
  contentType: string;
  sizeBytes: number;
  /** Where the rest begins, in characters; null when this is the end. */
  nextOffset: number | null;
}

/** What a tool that reads may do: GET requests with the caller's own key, and nothing else. Each throws what the API refused. */
export interface ApiReader {
  get(path: ApiPath, query?: ApiQuery): Promise<ApiObject>;

  /** A page of a list, with fewer items than asked for where more would not fit into an answer. */
  page(path: ApiPath, query: ApiQuery): Promise<ApiObject>;

  /** A body that is not JSON, or whose very characters count, from character `offset` on. */
  text(path: ApiPath, offset: number, charactersMax: number): Promise<TextPart>;

  /** Asks `look` once a second until it finds something; null when the time (at most 25 s) is over. */
  until<T>(seconds: number, look: () => Promise<T | null>): Promise<T | null>;
}

/** What a tool that writes may do besides: POST requests with the caller's own key. */
export interface ApiWriter extends ApiReader {
  /** With `idempotencyKey`, a uuid, the same call is done once. */
  post(path: ApiPath, body: ApiObject | undefined, idempotencyKey: string | undefined): Promise<ApiObject>;
}

/** What a tool answers. */
export interface ToolAnswer {
  content: ApiObject;
  /** Where in it stands what strangers wrote, as in `attempts[].response_excerpt`: the model is told to take it for data. */
  untrusted?: readonly string[];
}

/** What a model reads of a tool. */
interface ToolTexts<Input extends z.ZodObject> {
  /** In snake_case, and no other tool's. */
  name: string;
  /** For people. */
  title: string;
  /** What it does, what it needs and what comes back, in a few sentences: nothing else tells a model how to use it. */
  description: string;
  /** Every field described. */
  input: Input;
  /** Arguments that work, shown where others did not. */
  example: z.input<Input>;
}

/** A tool that looks and changes nothing; it cannot. */
export interface ReadTool<Input extends z.ZodObject = z.ZodObject> extends ToolTexts<Input> {
  run(api: ApiReader, args: z.output<Input>): Promise<ToolAnswer>;
}

/** A tool that changes something; only keys of scope `write` see it. */
export interface WriteTool<Input extends z.ZodObject = z.ZodObject> extends ToolTexts<Input> {
  /** Whether something may be lost by it. */
  isDestructive: boolean;
  /** Whether the same call twice does no more than once, whatever `idempotency_key` says. */
  isIdempotent: boolean;
  run(api: ApiWriter, args: z.output<Input>): Promise<ToolAnswer>;
}

/** A tool of either kind. */
export type AgentTool = { kind: 'read'; tool: ReadTool } | { kind: 'write'; tool: WriteTool };

/** Declares a tool that reads. */
export const readTool = <Input extends z.ZodObject>(tool: ReadTool<Input>): AgentTool => ({
  kind: 'read',
  tool: tool as unknown as ReadTool,
});

/** Declares a tool that writes. */
export const writeTool = <Input extends z.ZodObject>(tool: WriteTool<Input>): AgentTool => ({
  kind: 'write',
  tool: tool as unknown as WriteTool,
});

/** Providers of this class, in any module, give tools to `/mcp`. Two tools of one name stop the start. */
export abstract class AgentTools {
  abstract readonly tools: readonly AgentTool[];
}

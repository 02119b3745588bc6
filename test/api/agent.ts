import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { PosthornServer } from '../support/server.js';

/** Result of a tool call. */
export interface Said {
  isError: boolean;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  content: any;
  text: string;
  /** Size of the whole response in bytes. */
  bytes: number;
}

/** An MCP client, connected over HTTP with an API key. */
export interface Agent {
  readonly client: Client;
  tools(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>): Promise<Said>;
  close(): Promise<void>;
}

/**
 * Returns a connected MCP client. With `legacy`, the client uses the handshake of 2025, which most agents still use.
 */
export async function connectAgent(
  server: Pick<PosthornServer, 'url'>,
  key: string,
  revision: 'modern' | 'legacy' = 'modern',
): Promise<Agent> {
  const client = new Client(
    { name: 'test agent', version: '1' },
    revision === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
  );
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => {
      const answer = await client.callTool({ name, arguments: args });
      const [first] = answer.content;
      const text = first?.type === 'text' ? first.text : '';
      return {
        isError: answer.isError === true,
        content: answer.structuredContent ?? JSON.parse(text),
        text,
        bytes: Buffer.byteLength(JSON.stringify(answer)),
      };
    },
    close: () => client.close(),
  };
}

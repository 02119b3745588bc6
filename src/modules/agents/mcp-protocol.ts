import { toWebRequest } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';

// All that is loaded of the protocol's package, with the first request of an agent (`mcp-server.ts`).
export { createMcpHandler, type McpHttpHandler, ProtocolError, ProtocolErrorCode, Server, toWebRequest };

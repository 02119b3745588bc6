import { toWebRequest } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';

// All imports from the protocol's package. They are loaded with the first request of an agent (`mcp-server.ts`).
export { createMcpHandler, type McpHttpHandler, ProtocolError, ProtocolErrorCode, Server, toWebRequest };

import { toWebRequest } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';

// All imports from the MCP package. `mcp-server.ts` loads this file when an agent sends the first request.
export { createMcpHandler, type McpHttpHandler, ProtocolError, ProtocolErrorCode, Server, toWebRequest };

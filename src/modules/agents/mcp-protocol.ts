import { toWebRequest } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';

// All imports from the MCP package. `mcp-server.ts` loads this file with the first request of an agent.
export { createMcpHandler, type McpHttpHandler, ProtocolError, ProtocolErrorCode, Server, toWebRequest };

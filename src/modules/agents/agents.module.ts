import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AgentGate } from './agent-gate.js';
import { Challenge } from './challenge.js';
import { McpController } from './mcp.controller.js';
import { McpServer } from './mcp-server.js';
import { ToolBox } from './tool-box.js';

/** Agents: the Model Context Protocol, and how they sign in. */
@Module({
  imports: [DiscoveryModule],
  controllers: [McpController],
  providers: [AgentGate, Challenge, McpServer, ToolBox],
})
export class AgentsModule {}

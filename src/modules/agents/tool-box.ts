import type { Tool } from '@modelcontextprotocol/server';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { z } from 'zod';
import { providersExtending } from '#kernel/extension-points.js';
import { grants, type Scope } from '#kernel/tenant.js';
import { type AgentTool, AgentTools } from '#modules/agents/contract.js';

/**
 * Length that no real name, id or address exceeds. Schemas for models omit a `maxLength` up to this value, because it
 * would only cost tokens.
 */
const LENGTH_OF_NAMES_MAX = 2_048;
const NAME = /^[a-z][a-z0-9_]{2,63}$/;

/** All tools of all modules, in the form that models receive. */
@Injectable()
export class ToolBox implements OnModuleInit {
  private readonly byName = new Map<string, AgentTool>();
  private listings: Readonly<Record<'read' | 'write', readonly Tool[]>> = { read: [], write: [] };

  constructor(private readonly discovery: DiscoveryService) {}

  /** Throws for an invalid or duplicate name, and for an example that the tool itself would reject. */
  onModuleInit(): void {
    for (const { tools } of providersExtending(this.discovery, AgentTools)) tools.forEach((tool) => this.add(tool));
    const all = [...this.byName.values()].sort((a, b) => a.tool.name.localeCompare(b.tool.name));
    const write = all.map(described);
    this.listings = { read: write.filter((_, index) => all[index]?.kind === 'read'), write };
  }

  find(name: string): AgentTool | undefined {
    return this.byName.get(name);
  }

  list(scope: Scope): readonly Tool[] {
    return this.listings[grants(scope, 'write') ? 'write' : 'read'];
  }

  private add(added: AgentTool): void {
    const { name, input, example } = added.tool;
    if (!NAME.test(name)) throw new Error(`The tool "${name}" needs a name in snake_case.`);
    if (this.byName.has(name)) throw new Error(`There are two tools called ${name}.`);
    if (!input.strict().safeParse(example).success)
      throw new Error(`The example of the tool ${name} does not fit its arguments.`);
    this.byName.set(name, added);
  }
}

function described(added: AgentTool): Tool {
  const { name, title, description, input } = added.tool;
  // Lists only the hints that differ from the defaults of MCP. By default, a tool writes, is destructive, is not
  // idempotent, and interacts with an open world.
  const hints =
    added.kind === 'read'
      ? { readOnlyHint: true }
      : { destructiveHint: added.tool.isDestructive, ...(added.tool.isIdempotent && { idempotentHint: true }) };
  const { $schema: _, ...schema } = z.toJSONSchema(input.strict(), {
    io: 'input',
    override: ({ jsonSchema }) => {
      // Removes redundant parts of the schema, because models are billed for every character.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.enum !== undefined) delete jsonSchema.type;
      if (jsonSchema.minLength === 1) delete jsonSchema.minLength;
      if (jsonSchema.minItems === 1) delete jsonSchema.minItems;
      if (jsonSchema.minimum === 0 || jsonSchema.minimum === 1) delete jsonSchema.minimum;
      if (Object.keys(jsonSchema.additionalProperties || { some: 1 }).length === 0)
        delete jsonSchema.additionalProperties;
      if ((jsonSchema.maxLength ?? 0) <= LENGTH_OF_NAMES_MAX) delete jsonSchema.maxLength;
      if (Object.keys(jsonSchema.propertyNames ?? {}).join() === 'type') delete jsonSchema.propertyNames;
    },
  });
  return {
    name,
    ...(wordsOf(title) !== name && { title }),
    description,
    inputSchema: schema as Tool['inputSchema'],
    annotations: hints,
  };
}

/** Returns the title in the form of a tool name, to detect titles that only repeat the name. */
function wordsOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/\b(an?|the|of)\b/g, '')
    .trim()
    .replace(/\s+/g, '_');
}

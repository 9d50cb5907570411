/** Fields that creating a session and forking a session have in common. */
import { z } from 'zod'
import { McpServers, ModelRef, SkillRefs } from './agents.ts'
import { AgentParams } from './multiagent.ts'
import { Id, Line } from './primitives.ts'
import { Tools } from './tools.ts'

const version = z.int().min(1).optional().describe('The newest version when absent.')
export const sessionTitle = Line.max(1024).nullish().describe('What people call the session.')

export const AgentChoice = z.union([
  Id,
  z.discriminatedUnion('type', [
    AgentParams,
    z
      .strictObject({
        type: z.literal('agent_with_overrides'),
        id: Id,
        version,
        model: ModelRef.optional(),
        system: z
          .string()
          .max(100_000)
          .nullish()
          .describe('The system prompt; null or empty: none.'),
        tools: Tools.nullish().describe('Replaces all tools; null or empty: none.'),
        mcp_servers: McpServers.nullish().describe(
          'Replaces all MCP servers; null or empty: none.',
        ),
        skills: SkillRefs.nullish().describe('Replaces all skills; null or empty: none.'),
      })
      .meta({
        id: 'AgentWithOverridesParams',
        description: 'An agent whose named fields are replaced, for this session only.',
      }),
  ]),
])
export type AgentChoice = z.infer<typeof AgentChoice>

/** The tools of an agent as a model reads them, without a session. */
import type { ToolSpec } from '@steward/model/model.ts'
import type { ToolEntry } from '@steward/protocol/tools.ts'
import type { ToolDeps } from './toolset.ts'
import { buildTools } from './toolset.ts'

const never = () => Promise.reject(new Error('a tool that is only described does not run'))
const described: ToolDeps = {
  sandbox: never,
  outbound: never,
  web: { fetch: never, conversionSlot: never, search: null },
  commandSecrets: never,
  now: () => 0,
}

/** Those of MCP servers are missing: only the server knows them. */
export const toolSpecs = (tools: readonly ToolEntry[]): ToolSpec[] =>
  buildTools(tools, described).map(({ name, description, input_schema }) => ({
    name,
    description,
    input_schema,
  }))

/** Turns a request body into the configuration that a version fixes. No rows here. */
import type {
  AgentConfig,
  AgentCreate,
  AgentUpdate,
  McpServer,
  ModelRef,
} from '@steward/protocol/agents.ts'
import { resolveTools, strayToolset } from '@steward/protocol/tools.ts'
import type { Dialect } from '@steward/protocol/dialects.ts'
import { inDialect } from '@steward/protocol/dialects.ts'
import { invalid } from '../../ground/core/errors.ts'
import { isSameJson } from '../../ground/core/text/same-json.ts'
import { mergeMetadata } from '../../ground/core/text/metadata.ts'

/** SECRET: never logged. Inline bearer tokens by server name, before they are sealed. */
export type Tokens = Record<string, string>

/** `cleared`: the servers whose token is taken away, by a null in its place. */
type MadeConfig = { config: AgentConfig; tokens: Tokens; cleared: string[] }

/** Without `multiagent`, whose agents are resolved by `multiagentAfter`. */
export function buildAgentConfig(input: AgentCreate): { config: AgentConfig; tokens: Tokens } {
  const made = madeOf(input)
  checkToolsets(made.config)
  return made
}

function madeOf(input: AgentCreate) {
  const { servers, tokens, cleared } = splitServers(input.mcp_servers ?? [])
  const made: MadeConfig = {
    tokens,
    cleared,
    config: {
      name: input.name,
      description: input.description || null,
      model: input.model,
      system: input.system || null,
      tools: resolveTools(input.tools ?? []),
      mcp_servers: servers,
      skills: input.skills ?? [],
      environment_id: input.environment_id ?? null,
      memory_store_id: input.memory_store_id ?? null,
      harness: input.harness ?? 'default',
      ...(input.answers && { answers: input.answers }),
      ...(input.max_concurrent_subagents && {
        max_concurrent_subagents: input.max_concurrent_subagents,
      }),
      metadata: withoutNulls(input.metadata ?? {}),
      multiagent: null,
      execution_identity: { type: 'service_account' },
    },
  }
  return made
}

/**
 * A field that is left out stays. Null clears a field. Lists are replaced as a whole. Metadata is merged by key.
 * `multiagent` stays as it is: `multiagentAfter` changes it.
 */
export function updateConfig(
  kept: AgentConfig,
  update: AgentUpdate,
): { config: AgentConfig; tokens: Tokens | undefined; cleared: string[] } {
  const { version: _, multiagent: _asked, ...fields } = update
  const { multiagent, ...before } = kept
  const made = madeOf({
    ...before,
    ...definedOnly(fields),
    model: fields.model === undefined ? kept.model : replaceModel(kept.model, fields.model),
    metadata: mergeMetadata(kept.metadata, fields.metadata ?? {}) as AgentCreate['metadata'],
    mcp_servers: fields.mcp_servers === undefined ? [] : fields.mcp_servers,
  })
  const next = { ...made, config: { ...made.config, multiagent } }
  const whole =
    fields.mcp_servers === undefined
      ? {
          config: { ...next.config, mcp_servers: kept.mcp_servers },
          tokens: undefined,
          cleared: [],
        }
      : next
  checkToolsets(whole.config)
  return whole
}

/**
 * Keeps the stored spelling of a field that the caller's dialect shows in the same way before and after. Sending an
 * answer back therefore changes nothing. [agents/update/no-op]
 */
export function keepSpelling(kept: AgentConfig, next: AgentConfig, dialect: Dialect): AgentConfig {
  const [before, after] = [kept, next].map((config) =>
    inDialect<Record<string, unknown>>({ ...config, type: 'agent' }, dialect),
  )
  const isShownAlike = (key: string) => isSameJson([before?.[key]], [after?.[key]])
  const pairs = Object.entries(next).map(([key, value]) => [
    key,
    isShownAlike(key) ? kept[key as keyof AgentConfig] : value,
  ])
  return Object.fromEntries(pairs) as AgentConfig
}

function checkToolsets({ tools, mcp_servers }: AgentConfig): void {
  const stray = strayToolset(tools, mcp_servers)
  if (stray) throw invalid(`tools.${stray.index}.${stray.message}`)
}

/** Replaces the model. The effort stays when it is left out, as a string does, and the model is the same. */
function replaceModel(kept: ModelRef, next: ModelRef): ModelRef {
  if (typeof kept === 'string' || !kept.effort) return next
  const asked = typeof next === 'string' ? { id: next } : next
  const keepsEffort = asked.effort === undefined && asked.id === kept.id
  return keepsEffort ? { ...asked, effort: kept.effort } : next
}

/** Separates the servers, as replies show them, from their tokens. */
export function splitServers(servers: readonly McpServer[]) {
  const tokens: Tokens = {}
  const cleared: string[] = []
  const shown = servers.map(({ authorization_token, ...server }) => {
    if (authorization_token) tokens[server.name] = authorization_token
    if (authorization_token === null) cleared.push(server.name)
    return server
  })
  return { servers: shown, tokens, cleared }
}

const definedOnly = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Partial<T>

const withoutNulls = (bag: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(bag).filter(([, value]) => value !== null))

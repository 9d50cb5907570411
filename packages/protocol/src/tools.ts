import { z } from 'zod'
import { domainProblem, sameDomain } from './domains.ts'
import { extension } from './primitives.ts'

export const builtInTools = [
  'bash',
  'read',
  'write',
  'edit',
  'glob',
  'grep',
  'web_fetch',
  'web_search',
] as const
export type BuiltInTool = (typeof builtInTools)[number]

/** Tools that an agent has only when its toolset names them. The official client has no entry for them in `configs`. */
export const namedTools = ['schedule_wakeup', 'automations'] as const

/** The names that tools of the service have. An agent has `open_pull_request` only in sessions of a publication. */
export const toolsetTools = [...builtInTools, ...namedTools, 'open_pull_request'] as const

export const PermissionPolicy = z
  .strictObject({
    type: z.enum(['always_allow', 'always_ask', 'auto']),
  })
  .meta({
    id: 'PermissionPolicy',
    description: 'Whether a call of the tool runs at once or waits for a `user.tool_confirmation`.',
  })
export type PermissionPolicy = z.infer<typeof PermissionPolicy>

const enabled = z.boolean().nullish().describe('Whether the agent has the tool.')
const policy = PermissionPolicy.nullish().describe(
  'Whether a call runs at once or asks. When absent: that of `default_config`.',
)
const domainList = (description: string) =>
  z.array(z.string().min(1).max(255)).min(1).max(64).nullish().describe(description)
/** The tools that each setting of web access applies to. */
const webSettings: Record<string, readonly BuiltInTool[]> = {
  allowed_domains: ['web_fetch', 'web_search'],
  blocked_domains: ['web_fetch', 'web_search'],
  max_content_tokens: ['web_fetch'],
  url_sources: ['web_fetch'],
  user_location: ['web_search'],
}

const DefaultConfig = z.strictObject({ enabled, permission_policy: policy }).meta({
  id: 'ToolsetDefaultConfig',
  description: 'For every tool of the set without an entry of its own.',
})
/** Refuses a second entry for one name: a second entry would have no effect. */
const noneTwice = <E extends { name: string }>(
  configs: readonly E[] | null | undefined,
  context: z.core.$RefinementCtx,
): void => {
  const seen = new Set<string>()
  for (const [index, { name }] of (configs ?? []).entries()) {
    const message = `${name} stands there more than once`
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message })
    seen.add(name)
  }
}

const everySource = z.strictObject({ type: z.enum(['all', 'none']) })
/** `all` and `none` may be sent as a word. Answers show objects. */
const sourceWord = z.enum(['all', 'none']).transform((type) => ({ type }))
const UserUrls = z.union([sourceWord, everySource])
const toolUrls = (name: z.ZodType<string>) =>
  z.union([
    sourceWord,
    everySource,
    z.strictObject({
      type: z.enum(['only', 'except']),
      tools: z
        .array(z.strictObject({ type: z.literal('tool_reference'), name }))
        .min(1)
        .max(128)
        .superRefine(noneTwice)
        .describe('The tools whose results are meant, each once.'),
    }),
  ])

const UrlSources = z
  .strictObject({
    client_tool_results: toolUrls(z.string().min(1).max(128))
      .nullish()
      .describe('Results of tools that a client answers.'),
    server_tool_results: toolUrls(z.enum(['web_search', 'web_fetch']))
      .nullish()
      .describe('Results of tools that the service runs.'),
    user_input: UserUrls.nullish().describe('Messages of the user.'),
  })
  .refine(
    ({ client_tool_results, server_tool_results, user_input }) =>
      [client_tool_results, server_tool_results, user_input].some((each) => each?.type !== 'none'),
    'may not be none for all three: no page could be fetched',
  )

export const BuiltInConfig = z
  .strictObject({
    name: z.enum(builtInTools),
    type: z.enum(builtInTools).optional(),
    enabled,
    permission_policy: policy,
    allowed_domains: domainList('Only these domains, and those below them.'),
    blocked_domains: domainList('None of these domains, and none below them.'),
    max_content_tokens: z
      .int()
      .positive()
      .nullish()
      .describe('Tokens of one fetched page at most.'),
    url_sources: UrlSources.nullish().describe('Where a URL may come from that the tool fetches.'),
    user_location: z
      .strictObject({
        type: z.literal('approximate'),
        city: z.string().nullish().describe('The name of the city.'),
        country: z.string().nullish().describe('The country, as two letters.'),
        region: z.string().nullish().describe('The region or state.'),
        timezone: z.string().nullish().describe('The time zone, such as `Europe/Berlin`.'),
      })
      .nullish()
      .describe('For results of the web search that suit a place.'),
  })
  .refine((entry) => !(entry.allowed_domains && entry.blocked_domains), {
    message: 'allowed_domains and blocked_domains exclude each other',
  })
  .superRefine((entry, context) => {
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message })
    if (entry.type !== undefined && entry.type !== entry.name)
      refuse(['type'], `is ${entry.name}, as the name is, or left out`)
    for (const [key, tools] of Object.entries(webSettings)) {
      const isSet = (entry[key as keyof typeof entry] ?? null) !== null
      if (isSet && !tools.includes(entry.name)) refuse([key], `is not for ${entry.name}`)
    }
    for (const key of ['allowed_domains', 'blocked_domains'] as const) {
      const list = entry[key] ?? []
      const same = list.map(sameDomain)
      for (const [index, domain] of list.entries()) {
        const first = same.indexOf(sameDomain(domain))
        const why =
          first === index
            ? domainProblem(domain, { path: entry.name === 'web_search' })
            : `says the same as ${key}[${first}]`
        if (why) refuse([key, index], `${JSON.stringify(domain)} ${why}`)
      }
    }
  })
  .meta({ id: 'AgentToolConfig', description: 'What one built-in tool may do.' })

export const Toolset = z
  .strictObject({
    type: z.literal('agent_toolset_20260401'),
    default_config: DefaultConfig.nullish(),
    configs: z
      .array(BuiltInConfig)
      .nullish()
      .superRefine(noneTwice)
      .describe('Single tools, each name once.'),
    schedule_wakeup: DefaultConfig.nullish().meta(
      extension(
        'The tool by which the agent goes on at a time. Absent: the agent has no such tool.',
      ),
    ),
    automations: DefaultConfig.nullish().meta(
      extension(
        'The tool by which the agent manages automations of its own session. Absent: the agent has no such tool.',
      ),
    ),
  })
  .meta({
    id: 'AgentToolset20260401',
    description: 'The built-in tools: commands, files and the web.',
  })
export type Toolset = z.infer<typeof Toolset>

export const McpToolset = z
  .strictObject({
    type: z.literal('mcp_toolset'),
    mcp_server_name: z.string().min(1).max(255).describe('One of the names in `mcp_servers`.'),
    default_config: DefaultConfig.nullish(),
    configs: z
      .array(
        z
          .strictObject({ name: z.string().min(1).max(128), enabled, permission_policy: policy })
          .meta({ id: 'MCPToolConfig', description: 'What one tool of the server may do.' }),
      )
      .nullish()
      .superRefine(noneTwice)
      .describe('Single tools, each name once.'),
  })
  .meta({ id: 'MCPToolset', description: 'The tools of an MCP server.' })

const InputSchema = z
  .looseObject({ type: z.literal('object') })
  .refine(
    (schema) => !['oneOf', 'anyOf', 'allOf'].some((key) => key in schema),
    'oneOf, anyOf and allOf are not accepted at the top level',
  )
  .refine((schema) => !refers(schema), '$ref keywords are not accepted')
  .refine(
    (schema) => propertyNames(schema).every((name) => /^[\w.-]{1,64}$/.test(name)),
    'property names are 1 to 64 letters, digits, _, . or -',
  )

export const CustomTool = z
  .strictObject({
    type: z.literal('custom'),
    name: z.string().regex(/^[\w-]{1,128}$/, 'must be 1 to 128 letters, digits, _ or -'),
    description: z.string().min(1).describe('The model reads it to choose the tool.'),
    input_schema: InputSchema.describe('JSON Schema of the input; its type is object.'),
    execution: z
      .discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('http'),
          endpoint: z
            .url({ protocol: /^https$/, error: 'must be an https URL' })
            .max(2048)
            .refine((url) => !/^https:\/\/[^/?#]*@/i.test(url), 'may not hold credentials')
            .describe('Where the request is sent: https, and no credentials in it.'),
          method: z
            .string()
            .regex(/^(get|head|post|put|patch|delete)$/i, 'GET, HEAD, POST, PUT, PATCH or DELETE')
            .optional()
            .describe('The method of the request; POST when absent.'),
        }),
        z.strictObject({
          type: z.literal('sandbox'),
          command: z
            .string()
            .min(1)
            .max(32_768)
            .describe('The command, run in the sandbox of the session.'),
        }),
      ])
      .nullish()
      .meta(extension('Who runs the tool; without it a client answers each call.')),
  })
  .meta({ id: 'CustomTool', description: 'A tool of your own.' })
export type CustomTool = z.infer<typeof CustomTool>

/** The reason why a custom tool may not have the name, as the end of a sentence. */
export function nameProblem(name: string, taken: ReadonlySet<string>): string | undefined {
  if (taken.has(name)) return 'is taken by another tool'
  return name.startsWith('mcp__') ? 'may not start with mcp__' : undefined
}

export const mostTools = 256

/** A toolset counts as all tools that it has built in. */
export const countTools = (tools: readonly { type: string }[]): number =>
  tools.reduce(
    (count, { type }) => count + (type === 'agent_toolset_20260401' ? builtInTools.length : 1),
    0,
  )

/** Entries of an agent's `tools`. [agents/field/tools] [tools/entry/toolset] */
export const Tools = z
  .array(z.discriminatedUnion('type', [Toolset, McpToolset, CustomTool]))
  .max(mostTools, 'must have at most 256 tools in all')
  .superRefine((tools, context) => {
    const seen = new Set<string>(toolsetTools)
    const sets = new Set<string>()
    for (const [index, tool] of tools.entries()) {
      const set = tool.type === 'mcp_toolset' ? `of ${tool.mcp_server_name}` : tool.type
      if (tool.type !== 'custom' && sets.has(set)) {
        const message = `there is a toolset ${set} already`
        context.addIssue({ code: 'custom', path: [index], message })
      }
      sets.add(set)
      if (tool.type !== 'custom') continue
      const why = nameProblem(tool.name, seen)
      if (why)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `${tool.name} ${why}` })
      seen.add(tool.name)
    }
    if (countTools(tools) > mostTools)
      context.addIssue({ code: 'custom', message: 'must have at most 256 tools in all' })
  })
  .describe('Toolsets and tools of your own, at most 256 tools in all.')
export type Tools = z.infer<typeof Tools>
export type ToolEntry = Tools[number]

/** The first toolset whose server is not declared. A server without a toolset is valid. [agents/mcp/unreferenced] */
export function strayToolset(
  tools: readonly ToolEntry[],
  servers: readonly { name: string }[],
): { index: number; message: string } | undefined {
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== 'mcp_toolset') continue
    const name = tool.mcp_server_name
    if (!servers.some((server) => server.name === name))
      return { index, message: `mcp_server_name: mcp_servers has none named ${name}` }
  }
  return undefined
}

function propertyNames(schema: Record<string, unknown>): string[] {
  const { properties } = schema
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

function refers(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(refers)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([key, inner]) => /^\$(ref|dynamicRef|recursiveRef)$/.test(key) || refers(inner),
  )
}

const noSources = { client_tool_results: null, server_tool_results: null, user_input: null }
const urlSourcesOf = (entry: { name: string; url_sources?: z.infer<typeof UrlSources> | null }) =>
  entry.url_sources ? { ...noSources, ...entry.url_sources } : null

/** Tools with all defaults filled in, as replies show them. MCP tools ask by default. */
export function resolveTools(tools: Tools): Tools {
  return tools.map((tool) => {
    if (tool.type === 'custom') return tool
    const mcp = tool.type === 'mcp_toolset'
    const fallback = {
      enabled: tool.default_config?.enabled ?? true,
      permission_policy: tool.default_config?.permission_policy ?? {
        type: mcp ? ('always_ask' as const) : ('always_allow' as const),
      },
    }
    const configs = (tool.configs ?? []).map((entry) => ({
      ...entry,
      ...(entry.name === 'web_fetch' && !mcp ? { url_sources: urlSourcesOf(entry) } : {}),
      ...(mcp ? {} : { type: entry.name }),
      enabled: entry.enabled ?? fallback.enabled,
      permission_policy: entry.permission_policy ?? fallback.permission_policy,
    }))
    const resolved = { ...tool, default_config: fallback, configs } as ToolEntry
    if (mcp) return resolved
    const named = namedTools.flatMap((name) => {
      const config = tool[name]
      if (!config) return []
      const { enabled, permission_policy } = config
      const policy = permission_policy ?? fallback.permission_policy
      return [[name, { enabled: enabled ?? true, permission_policy: policy }]]
    })
    return { ...resolved, ...Object.fromEntries(named) } as ToolEntry
  })
}

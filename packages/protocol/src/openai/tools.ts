import { z } from 'zod'
import { HttpUrl, JsonValue } from '../primitives.ts'
import { ofUnknownType, quoteValue } from '../problems.ts'
import { mostServers } from '../agents.ts'
import {
  BuiltInConfig,
  CustomTool,
  builtInTools,
  mostTools,
  nameProblem,
  toolsetTools,
} from '../tools.ts'
import { refused, unmet, unsupportedField } from './lists.ts'

const never = (wayOut: string) => refused(z.literal(false, unsupportedField(wayOut))).optional()
const inputSchema = CustomTool.shape.input_schema

const FunctionTool = z
  .strictObject({
    type: z.literal('function'),
    name: CustomTool.shape.name,
    description: CustomTool.shape.description,
    parameters: z
      .record(z.string(), JsonValue)
      .transform((schema) => ({ type: 'object', ...schema }))
      .pipe(inputSchema)
      .describe('JSON Schema of the arguments; its type is object.'),
    async: unmet(z.boolean())
      .optional()
      .describe('A wish that is not met: a turn waits for the result of each call.'),
    defer_loading: unmet(z.boolean())
      .optional()
      .describe('A wish that is not met: every tool is loaded.'),
  })
  .meta({ id: 'OpenAIFunctionTool', description: 'A tool that a client of yours answers.' })

const Transport = z.strictObject({
  type: refused(
    z.literal(
      'http',
      unsupportedField(
        'a worker starts stdio servers; declare them at `/v1/agents`, and send http here',
      ),
    ),
    '`stdio`',
  ),
  server_url: HttpUrl.describe('The address of the MCP server.'),
  authorization: z.string().min(1).nullish().describe('A bearer token; sessions alone take it.'),
  headers: refused(
    z
      .record(z.string(), z.string())
      .refine(
        (headers) => Object.keys(headers).length === 0,
        unsupportedField('keep the token in a vault, and name the vault in `vault_ids`'),
      ),
  )
    .nullish()
    .describe('Empty: a token belongs into a vault.'),
})

const McpTool = z
  .strictObject({
    type: z.literal('mcp'),
    server_label: z
      .string()
      .regex(/^[\w.-]{1,128}$/, 'must be 1 to 128 letters, digits, _, . or -')
      .describe('The name of the server in the agent.'),
    transport: Transport.describe('How the server is reached.'),
    allowed_tools: z.array(z.string().min(1).max(128)).nullish().describe('All when absent.'),
    connection_origin: refused(
      z.literal('service', unsupportedField('this service connects to MCP servers itself')),
      '`environment`',
    )
      .nullish()
      .describe('`service` alone: this service connects to MCP servers itself.'),
    credential_id: refused(
      z.null(
        unsupportedField('the first vault of the session with a credential for the URL is used'),
      ),
    )
      .optional()
      .describe('Null: the first vault with a credential for the URL is used.'),
    request_metadata: refused(
      z
        .record(z.string(), JsonValue)
        .refine((pairs) => Object.keys(pairs).length === 0, unsupportedField('leave it out')),
    )
      .nullish()
      .describe('Empty alone.'),
    required: never('a turn begins without a server that does not answer, and says so'),
  })
  .meta({ id: 'OpenAIMCPTool', description: 'The tools of an MCP server.' })

const WebSearchTool = z
  .strictObject({
    type: z.literal('web_search'),
    mode: refused(
      z
        .enum(['disabled', 'live', 'cached'])
        .refine((mode) => mode !== 'cached', unsupportedField('send live or disabled')),
      '`cached`',
    )
      .nullish()
      .describe('`live` when absent; `disabled`: the agent has no search.'),
    context_size: unmet(z.enum(['low', 'medium', 'high']))
      .nullish()
      .describe('A wish that is not met: results have one size.'),
    allowed_domains: z
      .array(z.string().min(1).max(255))
      .max(64)
      .nullish()
      .describe('Only these domains, and those below them; at most 64.'),
    location: z
      .strictObject({
        city: z.string().nullish().describe('The name of the city.'),
        country: z.string().nullish().describe('The country, as two letters.'),
        region: z.string().nullish().describe('The region or state.'),
        timezone: z.string().nullish().describe('The time zone, such as `Europe/Berlin`.'),
      })
      .nullish()
      .describe('For results that suit a place.'),
  })
  .meta({ id: 'OpenAIWebSearchTool', description: 'Search of the web.' })

const AutomationsTool = z.strictObject({ type: z.literal('automations') }).meta({
  id: 'OpenAIAutomationsTool',
  description: 'The agent manages automations of its own session.',
})

/** Advice for the types of tools that the wire has and this service does not support. */
const wayOuts: Record<string, string> = {
  tool_search: 'every tool is loaded; leave it out',
  programmatic_tool_calling: 'leave it out',
  computer_use: 'sandboxes have no desktop; leave it out',
}

const unknownTool = ofUnknownType((type) => {
  const wayOut =
    typeof type === 'string' && Object.hasOwn(wayOuts, type) ? wayOuts[type] : undefined
  return wayOut
    ? `${quoteValue(type)} is not supported: ${wayOut}`
    : `${quoteValue(type)} is no type of tool: send function, mcp, web_search or automations`
})

export const OpenAITool = refused(
  z.discriminatedUnion(
    'type',
    [FunctionTool, McpTool, WebSearchTool, AutomationsTool],
    unknownTool,
  ),
  Object.keys(wayOuts)
    .map((type) => `\`${type}\``)
    .join(', '),
)
export type OpenAITool = z.infer<typeof OpenAITool>

function problemOf(tool: OpenAITool, taken: ReadonlySet<string>): string | undefined {
  if (tool.type === 'function') return nameProblem(tool.name, taken)
  return taken.has(keyOf(tool)) ? `${keyOf(tool)} stands there twice` : undefined
}

const keyOf = (tool: OpenAITool): string =>
  tool.type === 'function'
    ? tool.name
    : tool.type === 'mcp'
      ? `mcp server ${tool.server_label}`
      : `type ${tool.type}`

/** Checks domains by the rules of `/v1`. */
function checkSearch(
  { allowed_domains }: Extract<OpenAITool, { type: 'web_search' }>,
  refuse: (path: PropertyKey[], message: string) => void,
): void {
  if (!allowed_domains?.length) return
  const { error } = BuiltInConfig.safeParse({ name: 'web_search', allowed_domains })
  for (const { path, message } of error?.issues ?? []) refuse(path, message)
}

/** The rules of `/v1` for the tools of an agent hold here too. */
export const OpenAITools = z
  .array(OpenAITool)
  .max(mostTools - builtInTools.length)
  .superRefine((tools, context) => {
    const taken = new Set<string>(toolsetTools)
    for (const [index, tool] of tools.entries()) {
      const refuse = (path: PropertyKey[], message: string) =>
        context.addIssue({ code: 'custom', path: [index, ...path], message })
      const problem = problemOf(tool, taken)
      if (problem) refuse(tool.type === 'function' ? ['name'] : [], problem)
      taken.add(keyOf(tool))
      if (tool.type === 'web_search') checkSearch(tool, refuse)
      if (tool.type !== 'mcp') continue
      const allowed = tool.allowed_tools ?? []
      if (new Set(allowed).size < allowed.length)
        refuse(['allowed_tools'], 'may name each tool once')
    }
    if (tools.filter(({ type }) => type === 'mcp').length > mostServers)
      context.addIssue({ code: 'custom', message: `may hold at most ${mostServers} MCP servers` })
  })

export const OpenAIToolShown = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('function'),
      name: z.string(),
      description: z.string(),
      parameters: z.record(z.string(), JsonValue).describe('JSON Schema of the arguments.'),
      defer_loading: z.literal(false),
    }),
    z.object({
      type: z.literal('mcp'),
      server_label: z.string().describe('The name of the server in the agent.'),
      transport: z
        .object({
          type: z.literal('http'),
          server_url: z.string().describe('The address of the MCP server.'),
          headers: z
            .object({})
            .optional()
            .describe('Of a stored agent: always empty. A session has none.'),
        })
        .describe('How the server is reached.'),
      allowed_tools: z
        .array(z.string())
        .nullable()
        .describe('The only tools that the agent has; null for all.'),
      connection_origin: z.literal('service'),
      credential_id: z.null(),
      request_metadata: z.object({}).describe('Always empty.'),
      required: z.literal(false),
    }),
    z.object({
      type: z.literal('web_search'),
      mode: z.enum(['live', 'disabled']).describe('`disabled`: the agent has no search.'),
      context_size: z.literal('medium'),
      allowed_domains: z
        .array(z.string())
        .nullable()
        .describe('Only these domains, and those below them; null for all.'),
      location: z
        .object({
          city: z.string().nullable().describe('The name of the city, or null.'),
          country: z.string().nullable().describe('The country, or null.'),
          region: z.string().nullable().describe('The region or state, or null.'),
          timezone: z.string().nullable().describe('The time zone, or null.'),
        })
        .nullable()
        .describe('For results that suit a place, or null.'),
    }),
    z.object({ type: z.literal('automations') }),
  ])
  .meta({ id: 'OpenAITool', description: 'A tool of an agent.' })
export type OpenAIToolShown = z.infer<typeof OpenAIToolShown>

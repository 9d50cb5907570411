/** Rules of a company: what workspaces may name, and how long they keep what they have. */
import { z } from 'zod'
import { Line } from './primitives.ts'

/** What a list can be about. */
export const ruleKinds = ['mcp_servers', 'models', 'webhooks', 'images'] as const
export type RuleKind = (typeof ruleKinds)[number]

/** Patterns by what they are about. An absent list allows everything; an empty one nothing. */
export type AllowLists = { readonly [Kind in RuleKind]?: readonly string[] | undefined }

const Pattern = Line.min(1).max(512)
const List = z.array(Pattern).max(200)

const about: Record<RuleKind, string> = {
  mcp_servers:
    'MCP servers: hosts (`mcp.example.com`, `*.example.com`), beginnings of URLs (`https://mcp.example.com/team/`), and `stdio:NAME` for servers that workers start.',
  models: 'Models: names at their provider, alone or behind it (`anthropic/claude-*`, `offline`).',
  webhooks: 'Webhooks: hosts and beginnings of URLs, as for MCP servers.',
  images: 'Images that environments name as `base_image` (`registry.example.com/team/*`).',
}

const ListShown = z.object({
  operator: z
    .array(z.string())
    .nullable()
    .describe("The operator's list. Null: everything is allowed."),
  workspace: z
    .array(z.string())
    .nullable()
    .describe("The workspace's own list, which narrows further. Null: it narrows nothing."),
})

export const RulesShown = z
  .object({
    type: z.literal('rules'),
    allowed: z
      .object({
        mcp_servers: ListShown.describe(about.mcp_servers),
        models: ListShown.describe(about.models),
        webhooks: ListShown.describe(about.webhooks),
        images: ListShown.describe(about.images),
      })
      .describe('What agents, environments and webhooks of the workspace may name.'),
    updated_at: z.string().nullable().describe('When the workspace last changed its own lists.'),
  })
  .meta({ id: 'Rules', description: 'What is allowed in a workspace, and by whom.' })
export type RulesShown = z.infer<typeof RulesShown>

const ListChange = List.nullable().optional()

export const RulesUpdate = z
  .strictObject({
    allowed: z
      .strictObject({
        mcp_servers: ListChange.describe(about.mcp_servers),
        models: ListChange.describe(about.models),
        webhooks: ListChange.describe(about.webhooks),
        images: ListChange.describe(about.images),
      })
      .describe(
        "The workspace's own lists. A list that is absent stays, null removes it, [] allows nothing.",
      ),
  })
  .meta({
    id: 'RulesUpdateParams',
    examples: [{ allowed: { models: ['claude-*', 'offline'], webhooks: ['*.example.com'] } }],
  })
export type RulesUpdate = z.infer<typeof RulesUpdate>

/** What is kept for a number of days. */
export const retentionKinds = [
  'sessions',
  'files',
  'outputs',
  'memory_versions',
  'deliveries',
] as const
export type RetentionKind = (typeof retentionKinds)[number]

export const mostRetentionDays = 36_500

/** Days by kind. Null: kept for as long as the operator allows. An absent kind has the operator's days. */
export type RetentionDays = { readonly [Kind in RetentionKind]?: number | null | undefined }

const aboutKept: Record<RetentionKind, string> = {
  sessions:
    'Sessions that are idle or archived, since they last began, came to rest or were updated.',
  files: 'Files that callers uploaded, since their upload.',
  outputs: 'Files that sessions made, since they were made.',
  memory_versions: 'Versions of memories other than the newest, since they were made.',
  deliveries: 'Deliveries of webhooks and of integrations, since they came to their end.',
}

const KindShown = z.object({
  days: z
    .int()
    .nullable()
    .describe('The days that hold: the lower of what the workspace and the operator say.'),
  workspace: z
    .int()
    .nullable()
    .optional()
    .describe("The workspace's own days. Absent: it has said nothing."),
  default: z.int().nullable().describe("The operator's days for workspaces that say nothing."),
  most: z.int().nullable().describe('The most days that the operator allows.'),
  due: z.int().describe('How many would be removed now, counted up to 10,000.'),
  held: z.int().describe('How many more are old enough and stay because of a hold.'),
})

export const RetentionShown = z
  .object({
    type: z.literal('retention'),
    sessions: KindShown.describe(aboutKept.sessions),
    files: KindShown.describe(aboutKept.files),
    outputs: KindShown.describe(aboutKept.outputs),
    memory_versions: KindShown.describe(aboutKept.memory_versions),
    deliveries: KindShown.describe(aboutKept.deliveries),
  })
  .meta({ id: 'Retention', description: 'How long a workspace keeps what it has.' })
export type RetentionShown = z.infer<typeof RetentionShown>

const DaysChange = z.int().min(1).max(mostRetentionDays).nullable().optional()

export const RetentionUpdate = z
  .strictObject({
    sessions: DaysChange.describe(aboutKept.sessions),
    files: DaysChange.describe(aboutKept.files),
    outputs: DaysChange.describe(aboutKept.outputs),
    memory_versions: DaysChange.describe(aboutKept.memory_versions),
    deliveries: DaysChange.describe(aboutKept.deliveries),
  })
  .meta({
    id: 'RetentionUpdateParams',
    description:
      'Days by kind. An absent kind stays; null keeps for as long as the operator allows.',
    examples: [{ sessions: 90, outputs: 30, files: null }],
  })
export type RetentionUpdate = z.infer<typeof RetentionUpdate>

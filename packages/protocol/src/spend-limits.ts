/** Limits of a workspace's costs in each day or month, in the words of the official client. */
import { z } from 'zod'
import { CreatedAt, Id, WordList, UpdatedAt, extension } from './primitives.ts'

export const spendPeriods = ['daily', 'monthly'] as const
export type SpendPeriod = (typeof spendPeriods)[number]

/** Eleven digits stay exact in every unit that the service counts money in. */
export const spendAmount = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,10})$/, 'must be a whole number of cents as text, of at most 11 digits')

const Amount = spendAmount.nullable().describe('US cents, as text. Null: no limit.')
const Period = z
  .enum(spendPeriods)
  .describe('`daily` or `monthly`: from midnight, or from the first of the month, by UTC.')
const Currency = z.literal('USD')
const WorkspaceScope = z
  .object({ type: z.literal('workspace'), workspace_id: z.string() })
  .describe('The workspace that the limit is for.')
const setBy = extension('Who has set it: `operator` or `workspace`.')

export const SpendLimitShown = z
  .object({
    id: z.string(),
    type: z.literal('spend_limit'),
    scope: WorkspaceScope,
    amount: Amount,
    currency: Currency,
    period: Period,
    is_enabled: z.boolean().describe('Whether the limit holds.'),
    set_by: z.enum(['operator', 'workspace']).meta(setBy),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'SpendLimit', description: 'What a workspace may spend in each day or month.' })
export type SpendLimit = z.infer<typeof SpendLimitShown>

export const SpendLimitCreate = z
  .strictObject({
    scope: z
      .strictObject({ type: z.literal('workspace'), workspace_id: Id })
      .optional()
      .describe("The caller's own workspace, also when absent."),
    period: Period.default('monthly'),
    amount: Amount,
    currency: Currency.default('USD'),
    is_enabled: z.boolean().default(true).describe('Whether the limit holds; true when absent.'),
  })
  .meta({ id: 'SpendLimitCreateParams', examples: [{ period: 'daily', amount: '5000' }] })

export const SpendLimitUpdate = z
  .strictObject({
    amount: Amount.optional(),
    is_enabled: z.boolean().optional().describe('Whether the limit holds.'),
  })
  .meta({ id: 'SpendLimitUpdateParams', examples: [{ amount: '8000' }] })

export const SpendLimitQuery = z.object({
  period: WordList(spendPeriods).optional().describe('Only limits of these periods.'),
})

const scopeTypes = [
  ...['workspace', 'organization', 'organization_service', 'rbac_group', 'seat_tier'],
  ...['usage_tier', 'user'],
] as const

export const SpendLimitListQuery = SpendLimitQuery.extend({
  scope_type: WordList(scopeTypes)
    .optional()
    .describe('Only limits with these scopes; the limits of this service are all of a workspace.'),
  workspace_id: z.string().optional().describe('Only limits of this workspace.'),
})

export const SpendSummaryShown = z
  .object({
    spend_limit_id: z.string().describe('The limit that holds.'),
    actor: z
      .object({
        type: z.literal('scoped_api_key_actor'),
        scoped_api_key_id: z.string().describe('The id of the workspace.'),
      })
      .describe(
        'Stands for all keys and people of the workspace; its id is that of the workspace.',
      ),
    scope: WorkspaceScope,
    source: WorkspaceScope,
    set_by: z.enum(['operator', 'workspace']).meta(setBy),
    amount: Amount,
    currency: Currency,
    period: Period,
    period_to_date_spend: z.string().describe('US cents with up to four decimals, as text.'),
  })
  .meta({
    id: 'SpendSummary',
    description: 'The limit that holds for a period, and what was spent in it so far.',
  })
export type SpendSummary = z.infer<typeof SpendSummaryShown>

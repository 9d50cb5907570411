import type {
  AllowLists,
  RulesShown as Shown,
  RulesUpdate as Update,
} from '@steward/protocol/rules.ts'
import { RulesShown, RulesUpdate, ruleKinds } from '@steward/protocol/rules.ts'
import { invalid } from '../../../ground/core/errors.ts'
import { auditChange } from '../../../ground/core/security/audited-call.ts'
import { refusePattern } from '../../../ground/core/rules/patterns.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { listsOfOperator } from './rules.ts'
import type { OwnRules } from './store.ts'
import { ruleStore } from './store.ts'

const rules = section('Rules of a company', ['admin'], '/v1/ext/rules')

export function ruleRoutes({
  databases: { control },
  clock,
  allowed: given,
  limits,
}: Ground & {
  /** The operator's lists. */
  allowed: AllowLists
  /** Told after a change, so that all processes read the rules again. */
  limits: { workspaces: { changed(tenant: string): Promise<void> } }
}): Route[] {
  const ofOperator = listsOfOperator(given)

  const show = (own: OwnRules | undefined): Shown => {
    const list = (kind: keyof AllowLists) => ({
      operator: ofOperator[kind]?.slice() ?? null,
      workspace: own?.allowed[kind]?.slice() ?? null,
    })
    return {
      type: 'rules',
      allowed: {
        mcp_servers: list('mcp_servers'),
        models: list('models'),
        webhooks: list('webhooks'),
        images: list('images'),
      },
      updated_at: own?.updatedAt ?? null,
    }
  }

  return [
    rules.get(
      '',
      {
        callers: ['workspace'],
        summary: 'Get what is allowed in the workspace',
        answer: RulesShown,
      },
      async ({ tenant }) => show(await ruleStore(control.read).find(tenant)),
    ),
    rules.post(
      '',
      {
        summary: 'Change what is allowed in the workspace',
        description:
          "The workspace's lists narrow what the operator allows. They hold at once, for sessions that run too.",
        body: RulesUpdate,
        answer: RulesShown,
      },
      async ({ tenant, body }) => {
        checkPatterns(body)
        const changed = await control.write(async (tx) =>
          ruleStore(tx).change(
            tenant,
            (kept) => {
              const allowed = changedLists(kept.allowed, body)
              auditChange({
                type: 'rule',
                id: tenant,
                before: { ...kept.allowed },
                after: { ...allowed },
              })
              return { ...kept, allowed }
            },
            clock.now(),
          ),
        )
        await limits.workspaces.changed(tenant)
        return show(changed)
      },
    ),
  ]
}

function checkPatterns({ allowed }: Update): void {
  for (const kind of ruleKinds)
    for (const [index, pattern] of (allowed[kind] ?? []).entries()) {
      const refused = refusePattern(kind, pattern)
      if (refused !== undefined) throw invalid(`allowed.${kind}.${index}: ${refused}`)
    }
}

const changedLists = (kept: AllowLists, { allowed }: Update): AllowLists =>
  Object.fromEntries(
    ruleKinds.flatMap((kind) => {
      const next = allowed[kind] === undefined ? kept[kind] : (allowed[kind] ?? undefined)
      return next === undefined ? [] : [[kind, next]]
    }),
  )

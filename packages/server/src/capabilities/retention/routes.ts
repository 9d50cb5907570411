import type {
  RetentionDays,
  RetentionKind,
  RetentionShown as Shown,
} from '@steward/protocol/rules.ts'
import { RetentionShown, RetentionUpdate, retentionKinds } from '@steward/protocol/rules.ts'
import { dayMs } from '@steward/base/settings/kinds.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { ruleStore } from '../../tenants/limits/rules/store.ts'
import type { OperatorDays } from './days.ts'
import { effectiveDays } from './days.ts'
import { countDue } from './store.ts'

const retention = section('Rules of a company', ['admin'], '/v1/ext/retention')

export function retentionRoutes({
  databases: { control },
  clock,
  retentionDays,
}: Ground & { retentionDays: OperatorDays }): Route[] {
  async function show(db: Reads, tenant: string, own: RetentionDays): Promise<Shown> {
    async function kindOf(kind: RetentionKind) {
      const days = effectiveDays(retentionDays, own, kind)
      const beforeMs = clock.now() - (days ?? 0) * dayMs
      const count = async (isHeld: boolean) =>
        days === null ? 0 : countDue(db, kind, { tenant, beforeMs, isHeld })
      return {
        days,
        ...(own[kind] !== undefined && { workspace: own[kind] }),
        default: retentionDays.usual[kind] ?? null,
        most: retentionDays.most[kind] ?? null,
        due: await count(false),
        held: await count(true),
      }
    }
    return {
      type: 'retention',
      sessions: await kindOf('sessions'),
      files: await kindOf('files'),
      outputs: await kindOf('outputs'),
      memory_versions: await kindOf('memory_versions'),
      deliveries: await kindOf('deliveries'),
    }
  }

  return [
    retention.get(
      '',
      {
        summary: 'Get how long the workspace keeps things, and what would go now',
        answer: RetentionShown,
      },
      async ({ db, tenant }) => {
        const own = await ruleStore(control.read).find(tenant)
        return show(db.read, tenant, own?.retention ?? {})
      },
    ),
    retention.post(
      '',
      {
        summary: 'Change how long the workspace keeps things',
        description:
          'Days beyond what the operator allows are kept as they were sent, and the lower of the two holds. What is old enough goes within an hour, in parts.',
        body: RetentionUpdate,
        answer: RetentionShown,
      },
      async ({ db, tenant, body }) => {
        const { retention: own } = await control.write(async (tx) =>
          ruleStore(tx).change(
            tenant,
            (kept) => {
              const next = changedDays(kept.retention, body)
              auditChange({
                type: 'retention',
                id: tenant,
                before: { ...kept.retention },
                after: { ...next },
              })
              return { ...kept, retention: next }
            },
            clock.now(),
          ),
        )
        return show(db.read, tenant, own)
      },
    ),
  ]
}

const changedDays = (kept: RetentionDays, change: RetentionDays): RetentionDays =>
  Object.fromEntries(
    retentionKinds.flatMap((kind) => {
      const days = change[kind] === undefined ? kept[kind] : change[kind]
      return days === undefined ? [] : [[kind, days]]
    }),
  )

import type { AllowLists, RetentionDays } from '@steward/protocol/rules.ts'
import { iso } from '@steward/base/time.ts'
import { fromJson, toJson } from '../../../ground/core/text/json-text.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { forUpdate, lockAdvisory } from '../../../ground/database/lock.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Tables } from '../../../ground/database/tables.ts'

/** What a workspace itself has said. */
export type OwnRules = { allowed: AllowLists; retention: RetentionDays; updatedAt: string }

const decoded = (row: Tables['workspace_rules']): OwnRules => ({
  allowed: fromJson(row.allowed),
  retention: fromJson(row.retention),
  updatedAt: row.updated_at,
})

const ofTenant = (db: Reads, tenant: string) =>
  db.selectFrom('workspace_rules').selectAll().where('tenant_id', '=', tenant)

function ruleReads(db: Reads) {
  return {
    async find(tenant: string): Promise<OwnRules | undefined> {
      const row = await ofTenant(db, tenant).executeTakeFirst()
      return row && decoded(row)
    },

    /** Workspaces that are not deleted, behind `after`, by id. `isWithRules`: only those with rules. */
    async workspacesAfter(
      after: string,
      { limit, isWithRules }: { limit: number; isWithRules: boolean },
    ): Promise<{ tenant: string; own: RetentionDays }[]> {
      const all = db
        .selectFrom('workspaces')
        .leftJoin('workspace_rules', 'workspace_rules.tenant_id', 'workspaces.id')
        .select(['workspaces.id', 'workspace_rules.retention'])
        .where('workspaces.id', '>', after)
        .where('workspaces.deleted_at', 'is', null)
        .orderBy('workspaces.id')
        .limit(limit)
      const rows = await (
        isWithRules ? all.where('workspace_rules.tenant_id', 'is not', null) : all
      ).execute()
      return rows.map(({ id, retention }) => ({ tenant: id, own: fromJson(retention) ?? {} }))
    },
  }
}

function ruleWrites(db: Queries) {
  return {
    /** `change` gets what the workspace has said before. */
    async change(
      tenant: string,
      change: (kept: OwnRules) => Pick<OwnRules, 'allowed' | 'retention'>,
      now: number,
    ): Promise<OwnRules> {
      // A workspace without a row has none that a transaction could lock.
      await lockAdvisory(db, `${tenant}/rules`)
      const row = await forUpdate(db, ofTenant(db, tenant)).executeTakeFirst()
      const kept = row ? decoded(row) : { allowed: {}, retention: {}, updatedAt: '' }
      const { allowed, retention } = change(kept)
      const set = { allowed: toJson(allowed), retention: toJson(retention), updated_at: iso(now) }
      await db
        .insertInto('workspace_rules')
        .values({ tenant_id: tenant, ...set })
        .onConflict((on) => on.column('tenant_id').doUpdateSet(set))
        .execute()
      return { allowed, retention, updatedAt: iso(now) }
    },
  }
}

/** The rules that workspaces have made for themselves; rows of the control database. */
export const ruleStore = defineStore(ruleReads, ruleWrites)

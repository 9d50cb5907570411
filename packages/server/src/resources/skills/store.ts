import type { SkillRefs } from '@steward/protocol/agents.ts'
import type { Skill, SkillSource, SkillVersion } from '@steward/protocol/skills.ts'
import { notFound } from '../../ground/core/errors.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { RowOf } from '../../ground/database/rows.ts'
import { rows } from '../../ground/database/rows.ts'

export type SkillRow = RowOf<'skills'>
export type SkillVersionRow = RowOf<'skill_versions'>

const prefix = 'skver_'
export const versionId = (digits: string): string => prefix + digits
export const isVersionId = (text: string): boolean => text.startsWith(prefix)
/** The digits of a version that is given as id or as digits. */
export const versionDigits = (version: string): string =>
  isVersionId(version) ? version.slice(prefix.length) : version

function skillReads(db: Reads) {
  return {
    row: (tenant: string, id: string) => rows(db, 'skills').get(tenant, id),

    rowsOf: (tenant: string, named: SkillRefs): Promise<SkillRow[]> => {
      const ids = named.map(({ skill_id }) => skill_id)
      return rows(db, 'skills').all(tenant, (query) => query.where('id', 'in', ids))
    },

    list: (tenant: string, paging: Paging): Promise<Listing<SkillRow>> =>
      rows(db, 'skills').list(tenant, paging),

    /** A version by its digits. */
    async version(tenant: string, skill: string, digits: string): Promise<SkillVersionRow> {
      const row = await rows(db, 'skill_versions').find(tenant, (query) =>
        query.where('skill_id', '=', skill).where('id', '=', versionId(digits)),
      )
      if (!row) throw notFound('skill version', `${skill}/${digits}`)
      return row
    },

    /** The named versions, and possibly others of the same skills. */
    versionsOf: (tenant: string, named: SkillRefs): Promise<SkillVersionRow[]> => {
      const skills = named.map(({ skill_id }) => skill_id)
      const ids = named.map(({ version }) => versionId(versionDigits(version)))
      return rows(db, 'skill_versions').all(tenant, (query) =>
        query.where('skill_id', 'in', skills).where('id', 'in', ids),
      )
    },

    /** The newest remaining version. */
    latest: (tenant: string, skill: string): Promise<SkillVersionRow | undefined> =>
      rows(db, 'skill_versions').find(tenant, (query) =>
        query.where('skill_id', '=', skill).orderBy('id', 'desc').limit(1),
      ),

    versions: (tenant: string, skill: string, paging: Paging): Promise<Listing<SkillVersionRow>> =>
      rows(db, 'skill_versions').list(tenant, paging, {
        where: (query) => query.where('skill_id', '=', skill),
      }),

    allVersions: (
      tenant: string,
      skill: string,
    ): Promise<Pick<SkillVersionRow, 'id' | 'blob_key'>[]> =>
      db
        .selectFrom('skill_versions')
        .select(['id', 'blob_key'])
        .where('tenant_id', '=', tenant)
        .where('skill_id', '=', skill)
        .execute(),
  }
}

function skillWrites(db: Queries) {
  return {
    /**
     * Inserts the skill, or gives the skill of this id the title, when the row has one. Locks the skill either way:
     * on Postgres a skill that somebody else is deleting would be gone before a later statement locks it.
     */
    async insertOrRetitle(row: SkillRow): Promise<void> {
      const { display_title } = row
      await db
        .insertInto('skills')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .columns(['tenant_id', 'id'])
            .doUpdateSet(display_title === null ? { id: row.id } : { display_title }),
        )
        .execute()
    },

    async removeVersion(tenant: string, skill: string, id: string): Promise<void> {
      await db
        .deleteFrom('skill_versions')
        .where('tenant_id', '=', tenant)
        .where('skill_id', '=', skill)
        .where('id', '=', id)
        .execute()
    },
  }
}

/**
 * A tenant's own skills; built-in skills have no rows. The row of a version and the mark of its blob are written and
 * removed together.
 */
export const skillStore = defineStore(skillReads, skillWrites)

/** True when a version's archive is this blob. */
export async function heldBySkill(tx: Queries, tenant: string, key: string): Promise<boolean> {
  const holder = tx
    .selectFrom('skill_versions')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('blob_key', '=', key)
    .limit(1)
  return (await holder.executeTakeFirst()) !== undefined
}

export function showSkill(row: SkillRow, source: SkillSource): Skill {
  const title = row.display_title ?? row.name
  return {
    id: row.id,
    type: 'skill',
    display_title: title,
    display_name: title,
    name: row.name,
    description: row.description,
    latest_version: row.latest_version,
    latest_version_id: row.latest_version === null ? null : versionId(row.latest_version),
    source,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

export const showSkillVersion = (row: SkillVersionRow): SkillVersion => ({
  id: row.id,
  type: 'skill_version',
  skill_id: row.skill_id,
  version: versionDigits(row.id),
  name: row.name,
  description: row.description,
  directory: row.directory,
  files: row.files.map((filename) => ({ filename })),
  created_at: row.created_at,
})

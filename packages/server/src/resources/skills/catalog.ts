/** Reads skills: a tenant's own from rows and blobs, and the built-in ones. */
import { Readable } from 'node:stream'
import type { SkillSource } from '@steward/protocol/skills.ts'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { ListedRow, Listing, Paging } from '../../ground/core/text/page.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { BuiltinSkill } from './builtin.ts'
import { readBuiltinSkills, isBuiltin } from './builtin.ts'
import type { BundleFile } from './bundle.ts'
import type { SkillRow, SkillVersionRow } from './store.ts'
import { skillStore, versionDigits } from './store.ts'
import { readPackedFiles } from './zip.ts'

export type SkillCatalog = ReturnType<typeof skillCatalog>

export const sourceOf = (id: string): SkillSource => (isBuiltin(id) ? 'anthropic' : 'custom')

/** Refuses an operation that a built-in skill does not support. */
export function refuseBuiltin(id: string, what: string): void {
  if (isBuiltin(id)) throw invalid(`skill ${id} is built in and cannot be ${what}`)
}

export function skillCatalog({ databases, blobs }: { databases: Databases; blobs: Blobs }) {
  const storeOf = async (tenant: string) => skillStore((await databases.open(tenant)).read)
  const builtin = async (id: string): Promise<BuiltinSkill | undefined> =>
    isBuiltin(id) ? (await readBuiltinSkills()).get(id) : undefined

  async function skill(tenant: string, id: string): Promise<SkillRow> {
    return (await builtin(id))?.skill ?? (await storeOf(tenant)).row(tenant, id)
  }

  /** The archive of a version: one folder, named after the skill. Read the body to its end or destroy it. */
  async function archive(tenant: string, row: SkillVersionRow): Promise<Readable> {
    const kept = await builtin(row.skill_id)
    if (kept) return Readable.from([kept.archive], { objectMode: false })
    const found = await blobs.get(row.blob_key)
    if (!found) {
      // When the version was deleted since the row was read, this read throws not_found.
      const store = await storeOf(tenant)
      await store.version(tenant, row.skill_id, versionDigits(row.id))
      throw new Error(`the bytes of skill version ${row.skill_id}/${row.id} are missing`)
    }
    return found.body
  }

  return {
    skill,
    archive,

    /** `which`: `latest`, a version's id, or its digits. The default is `latest`. */
    async version(tenant: string, id: string, which = 'latest'): Promise<SkillVersionRow> {
      const kept = await skill(tenant, id)
      const digits = resolveVersionDigits(kept, which)
      const own = await builtin(id)
      if (own && digits !== own.skill.latest_version)
        throw notFound('skill version', `${id}/${which}`)
      return own?.version ?? (await storeOf(tenant)).version(tenant, id, digits)
    },

    /** The files of a version, with paths relative to its folder; only the wanted ones if named. */
    async files(
      tenant: string,
      row: SkillVersionRow,
      isWanted?: (path: string) => boolean,
    ): Promise<BundleFile[]> {
      const chunks: Buffer[] = []
      for await (const chunk of await archive(tenant, row)) chunks.push(chunk as Buffer)
      return readPackedFiles(Buffer.concat(chunks), isWanted)
    },

    /** Lists a tenant's skills and the built-in ones by time. */
    async list(tenant: string, paging: Paging, source?: SkillSource): Promise<Listing<SkillRow>> {
      const none: Listing<SkillRow> = { rows: [], more: false }
      const store = await storeOf(tenant)
      const own = source === 'anthropic' ? none : await store.list(tenant, paging)
      if (source === 'custom') return own
      const back = paging.from?.side === 'before'
      const way = (paging.order === 'desc') === back ? 1 : -1
      const given = [...(await readBuiltinSkills()).values()].map((each) => each.skill)
      const { from } = paging
      const last = own.more ? own.rows.at(-1) : undefined
      const rest = given.filter(
        (row) =>
          (!from || way * compared(row, from) > 0) && (!last || way * compared(row, last) < 0),
      )
      const all = [...own.rows, ...rest].toSorted((a, b) => way * compared(a, b))
      return { rows: all.slice(0, paging.limit), more: own.more || all.length > paging.limit }
    },

    async versions(tenant: string, id: string, paging: Paging): Promise<Listing<SkillVersionRow>> {
      const own = await builtin(id)
      if (own) return { rows: paging.from ? [] : [own.version], more: false }
      const store = await storeOf(tenant)
      await store.row(tenant, id)
      return store.versions(tenant, id, paging)
    },
  }
}

/** Built-in skills share no creation time with others, so the database's order of ids does not matter. */
const compared = (a: ListedRow, b: ListedRow): number =>
  a.created_at === b.created_at ? Math.sign(order(a.id, b.id)) : order(a.created_at, b.created_at)

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** The digits of a version in any of the three spellings. Throws when the version does not exist. */
export function resolveVersionDigits(
  skill: Pick<SkillRow, 'id' | 'latest_version'>,
  which: string,
): string {
  const digits = which === 'latest' ? skill.latest_version : which.replace(/^skver_/, '')
  if (digits === null || !/^\d{1,20}$/.test(digits))
    throw notFound('skill version', `${skill.id}/${which}`)
  return digits
}

/** Writes and removes skills. The files of a version are one archive, which is stored and removed with its row. */
import type { SkillFields } from '@steward/protocol/skills.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { looseBlobStore } from '../../ground/blobs/store.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Limits } from '../../tenants/limits/limits.ts'
import type { CheckRoom } from '../../tenants/limits/quotas.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, TenantRef } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import type { Bundle } from './bundle.ts'
import { resolveVersionDigits, refuseBuiltin } from './catalog.ts'
import type { SkillRow, SkillVersionRow } from './store.ts'
import { skillStore, versionDigits, versionId } from './store.ts'
import { packZip } from './zip.ts'
import { rows } from '../../ground/database/rows.ts'

export type SkillDeps = Ground & {
  keeping: BlobKeeping
  limits: Limits
}

type StoredArchive = { key: string; size: number; sha256: string }
type SkillWrite = { tx: Queries; tenant: string; now: number }
type SkillStorage = SkillWrite & { checkRoom: CheckRoom }

/** Creates a skill, or a further version when a skill with the id exists. */
export async function saveSkill(
  deps: SkillDeps,
  caller: TenantRef,
  { fields, bundle }: { fields: SkillFields; bundle: Bundle },
): Promise<SkillRow> {
  const id = fields.id ?? newId('skill')
  refuseBuiltin(id, 'replaced')
  const title = fields.display_title ?? fields.display_name
  return withArchive(deps, caller, bundle, async (writing, kept) => {
    const { tx, tenant, now } = writing
    const skills = skillStore(tx)
    const fresh: SkillRow = {
      tenant_id: tenant,
      id,
      name: bundle.name,
      display_title: title ?? null,
      description: bundle.description,
      latest_version: null,
      newest_version: '0',
      created_at: iso(now),
      updated_at: iso(now),
    }
    await skills.insertOrRetitle(fresh)
    await insertVersion(writing, { id, bundle, kept })
    return skills.row(tenant, id)
  })
}

export const addVersion = (
  deps: SkillDeps,
  caller: TenantRef,
  { id, bundle }: { id: string; bundle: Bundle },
): Promise<SkillVersionRow> =>
  withArchive(deps, caller, bundle, (writing, kept) => insertVersion(writing, { id, bundle, kept }))

/** Writes the bytes first and the rows afterwards: a version that has an id has an archive. */
async function withArchive<T>(
  { clock, keeping, limits }: SkillDeps,
  { db, tenant }: TenantRef,
  bundle: Bundle,
  unit: (writing: SkillStorage, kept: StoredArchive) => Promise<T>,
): Promise<T> {
  const archive = await packZip(bundle)
  const key = `skills/${tenant}/${newId('skill_archive')}`
  const { size, sha256 } = await keeping.put(tenant, key, once(archive))
  try {
    const checkRoom = await limits.quotas.room(tenant, 'stored_bytes')
    return await db.write(async (tx) => {
      const writing = { tx, tenant, now: clock.now(), checkRoom }
      const result = await unit(writing, { key, size, sha256 })
      await keeping.hold(tx, tenant, key)
      return result
    })
  } catch (error) {
    await keeping.abandon(tenant, key)
    throw error
  }
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}

async function insertVersion(
  { tx, tenant, now, checkRoom }: SkillStorage,
  { id, bundle, kept }: { id: string; bundle: Bundle; kept: StoredArchive },
): Promise<SkillVersionRow> {
  const skill = await rows(tx, 'skills').getForUpdate(tenant, id)
  if (skill.name !== bundle.name)
    throw invalid(`SKILL.md: name: is ${skill.name} in every version of skill ${id}`)
  await checkRoom(tx, kept.size)
  const digits = String(Math.max(now * 1000, Number(skill.newest_version) + 1))
  const row: SkillVersionRow = {
    tenant_id: tenant,
    skill_id: id,
    id: versionId(digits),
    name: bundle.name,
    description: bundle.description,
    directory: bundle.directory,
    size_bytes: kept.size,
    sha256: kept.sha256,
    blob_key: kept.key,
    created_at: iso(now),
    files: bundle.files.map(({ path }) => path),
  }
  await rows(tx, 'skill_versions').insert(row)
  await rows(tx, 'skills').update(skill, {
    description: row.description,
    latest_version: digits,
    newest_version: digits,
    updated_at: iso(now),
  })
  return row
}

export async function deleteSkill(deps: SkillDeps, caller: TenantRef, id: string): Promise<void> {
  refuseBuiltin(id, 'deleted')
  await removing(deps, caller, async ({ tx, tenant }) => {
    const skills = skillStore(tx)
    await rows(tx, 'skills').getForUpdate(tenant, id)
    const versions = await skills.allVersions(tenant, id)
    for (const version of versions) await skills.removeVersion(tenant, id, version.id)
    await rows(tx, 'skills').remove(tenant, id)
    return versions
  })
}

/**
 * Returns the deleted version, as digits when `which` was digits, otherwise as its id. The newest remaining version
 * becomes the skill's latest. Refuses to delete the last version.
 */
export async function deleteVersion(
  deps: SkillDeps,
  caller: TenantRef,
  { id, which }: { id: string; which: string },
): Promise<string> {
  refuseBuiltin(id, 'deleted, nor can its version')
  const [gone] = await removing(deps, caller, async ({ tx, tenant, now }) => {
    const skills = skillStore(tx)
    const skill = await rows(tx, 'skills').getForUpdate(tenant, id)
    const row = await skills.version(tenant, id, resolveVersionDigits(skill, which))
    await skills.removeVersion(tenant, id, row.id)
    const left = await skills.latest(tenant, id)
    if (!left)
      throw invalid(`version ${which} is the last of skill ${id}: delete the skill instead`)
    await rows(tx, 'skills').update(skill, {
      latest_version: versionDigits(left.id),
      description: left.description,
      updated_at: iso(now),
    })
    return [row]
  })
  return gone && !/^\d/.test(which) ? gone.id : which
}

type RemovedVersion = Pick<SkillVersionRow, 'id' | 'blob_key'>

async function removing(
  { clock, keeping, log }: SkillDeps,
  { db, tenant }: TenantRef,
  unit: (writing: SkillWrite) => Promise<RemovedVersion[]>,
): Promise<RemovedVersion[]> {
  const gone = await db.write(async (tx) => {
    const now = clock.now()
    const rows = await unit({ tx, tenant, now })
    for (const { blob_key } of rows) await looseBlobStore(tx).mark(tenant, blob_key, now)
    return rows
  })
  for (const { blob_key } of gone) {
    // The row is deleted; a job removes the remaining bytes.
    await keeping
      .discard(tenant, blob_key)
      .catch((error: unknown) => log.warn('bytes could not be removed yet', { error }))
  }
  return gone
}

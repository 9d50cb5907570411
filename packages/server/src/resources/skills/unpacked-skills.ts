/** Unpacks versions of skills into folders of this host, once for all sessions. Unused folders are removed. */
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeUnused } from '@steward/sandbox/remove-tree.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { SkillCatalog } from './catalog.ts'
import { isBuiltin } from './builtin.ts'
import type { BundleFile } from './bundle.ts'
import type { SkillVersionRow } from './store.ts'

const everyMs = 60 * 60 * 1000
/** Longer than any turn. */
const unusedMs = 7 * 24 * 60 * 60 * 1000

export type UnpackedSkills = ReturnType<typeof unpackedSkills>

/** Other processes may use the same `folder`: an entry under its final name is complete and never written again. */
export function unpackedSkills({
  catalog,
  clock,
  folder,
}: {
  catalog: Pick<SkillCatalog, 'files'>
  clock: Clock
  folder: string
}) {
  const coming = new Map<string, Promise<void>>()
  /** Tenants never share a folder, even for the same bytes. */
  const pathOf = ({ skill_id, tenant_id, sha256 }: SkillVersionRow): string =>
    join(folder, isBuiltin(skill_id) ? 'builtin' : tenant_id, sha256)

  async function use(folder: string): Promise<boolean> {
    const now = clock.now() / 1000
    return utimes(folder, now, now).then(() => true, absent)
  }

  return {
    /** The folder of a version, which is unpacked if needed. */
    async folderOf(tenant: string, version: SkillVersionRow): Promise<string> {
      const folder = pathOf(version)
      if (await use(folder)) return folder
      const making =
        coming.get(folder) ??
        catalog
          .files(tenant, version)
          .then((files) => writeFolder(folder, files))
          .finally(() => coming.delete(folder))
      coming.set(folder, making)
      await making
      return folder
    },
    /** Marks folders as used. */
    async touch(folder: readonly string[]): Promise<void> {
      await Promise.all(folder.map(use))
    },
  }
}

/** Writes into a temporary folder and moves it into place, where another process may have been faster. */
async function writeFolder(folder: string, files: readonly BundleFile[]): Promise<void> {
  const temporary = `${folder}.${randomUUID()}`
  await mkdir(temporary, { recursive: true })
  try {
    const folders = new Set(files.map(({ path }) => dirname(path)))
    for (const each of folders) await mkdir(join(temporary, each), { recursive: true })
    await Promise.all(files.map((file) => write(join(temporary, file.path), file)))
    // Readable by any sandbox user, whatever this process's umask is.
    for (const each of allOf(folders)) await chmod(join(temporary, each), 0o755)
    for (const each of [dirname(folder), dirname(dirname(folder))]) await chmod(each, 0o711)
    await rename(temporary, folder).catch(isThere)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

function isThere(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
}

/** The folders with all folders above them. */
function allOf(folders: ReadonlySet<string>): Set<string> {
  const all = new Set(['.'])
  for (const folder of folders)
    for (let each = folder; each !== '.'; each = dirname(each)) all.add(each)
  return all
}

async function write(path: string, { bytes, executable }: BundleFile): Promise<void> {
  await using file = await open(path, 'wx')
  await file.writeFile(bytes)
  await file.chmod(executable ? 0o755 : 0o644)
  await file.datasync()
}

function absent(error: unknown): false {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
  throw error
}

export const unpackedJob = (deps: { folder: string; clock: Clock }): Job => ({
  name: 'remove unused skills',
  everyMs,
  run: () => removeUnusedSkills(deps.folder, deps.clock.now()),
})

/** Removes folders that no session has used for days, and unfinished folders of dead processes. */
export async function removeUnusedSkills(folder: string, now: number): Promise<boolean> {
  for (const owner of await namesIn(folder)) {
    for (const name of await namesIn(join(folder, owner))) {
      const path = join(folder, owner, name)
      const used = await stat(path).then(({ mtimeMs }) => mtimeMs, absent)
      if (used === false || now - used < unusedMs) continue
      await removeUnused(path, `${path}.${randomUUID()}`, now - unusedMs)
    }
  }
  return true
}

const namesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch(absent)) || []

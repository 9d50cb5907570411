/** The files of tenants' databases: creates them from a template, opens and removes them. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runOnce } from '@steward/base/shared-runs.ts'
import { diskError } from '../../core/errors.ts'
import type { Database, Owners } from '../database.ts'
import { migrationNames } from '../migrate.ts'
import { sqliteDatabase } from '../sqlite.ts'
import { checkTableLocation } from '../tables.ts'

/** Prepared statements, and KiB of page memory, of one connection. Each open file has two connections. */
const statements = 100
const pageMemory = 500

/** Only ids become names of files. */
const safeId = /^[A-Za-z0-9_-]{1,128}$/

const version = createHash('sha256').update(migrationNames.join()).digest('hex').slice(0, 16)
const templateName = `${version}.template`

/** Names of files that belong to no tenant. */
const partial = /\.(?:new|template)$/

const rules = { examine: (text: string) => checkTableLocation(text, 'tenant') }

/** `mostBytes`: largest file of a tenant, so that no tenant fills the disk of others with rows. Commands set none. */
export function tenantFiles(folder: string, owners: Owners, mostBytes?: number) {
  function pathOf(tenant: string): string {
    if (!safeId.test(tenant)) throw new Error(`${tenant} cannot be the name of a file`)
    return join(folder, `${tenant}.db`)
  }

  /** Creates a database with all tables and no rows. A copy takes a hundredth of the time of the migrations. */
  async function makeTemplate(): Promise<string> {
    const path = join(folder, templateName)
    if (existsSync(path)) return path
    const made = join(folder, 'template.new')
    await removeFile(made)
    await (await sqliteDatabase(made, { owners })).close()
    await rename(made, path)
    return path
  }

  const makeTemplateOnce = runOnce(makeTemplate)

  return {
    pathOf,

    /** Creates the folder. Removes unfinished files of a dead process, and templates of other versions. */
    async begin(): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const name of await readdir(folder))
        if (partial.test(name) && name !== templateName) await removeFile(join(folder, name))
    },

    isThere: (tenant: string): boolean => existsSync(pathOf(tenant)),

    /** Creates the file atomically, also when the process dies. */
    async make(tenant: string): Promise<void> {
      const path = pathOf(tenant)
      const made = `${path}.new`
      try {
        await copyFile(await makeTemplateOnce(), made)
        await sync(made)
        // SQLite would apply a leftover log of a removed file to the new one.
        await removeFile(path)
        await rename(made, path)
        await sync(folder)
      } catch (error) {
        await rm(made, { force: true })
        throw diskError(error)
      }
    },

    open: (tenant: string): Promise<Database> =>
      sqliteDatabase(pathOf(tenant), { ...rules, owners, statements, pageMemory, mostBytes }),

    /** Opens a file that a server may have open. */
    openBeside: (tenant: string): Promise<Database> =>
      sqliteDatabase(pathOf(tenant), { ...rules, alone: false }),

    /** Removes a closed file. */
    remove: (tenant: string): Promise<void> => removeFile(pathOf(tenant)),
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Removes the log last: without its log, a file that is left would lack commits. */
async function removeFile(path: string): Promise<void> {
  for (const name of [path, `${path}-shm`, `${path}-wal`]) await rm(name, { force: true })
}

/** The files of tenants' databases: made from a template, opened, removed. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError } from '../../core/errors.ts'
import type { Database, Owners } from '../database.ts'
import { migrationNames } from '../migrate.ts'
import { sqliteDatabase } from '../sqlite.ts'
import { checkTablePlace } from '../table-places.ts'

/** A connection of a tenant keeps so many statements prepared: there are two connections for each file that is open. */
const statements = 100
const pageMemory = 500

/** Ids alone become names of files. */
const safeId = /^[A-Za-z0-9_-]{1,128}$/

const version = createHash('sha256').update(migrationNames.join()).digest('hex').slice(0, 16)
const templateName = `${version}.template`

/** Files that no tenant has end in no `.db`. */
const partial = /\.(?:new|template)$/

const rules = { examine: (text: string) => checkTablePlace(text, 'tenant') }

/** `mostBytes`: of the file of one tenant, so that no tenant fills the disk of the others by rows. Commands have no bound. */
export function tenantFiles(folder: string, owners: Owners, mostBytes?: number) {
  let template: Promise<string> | undefined

  function pathOf(tenant: string): string {
    if (!safeId.test(tenant)) throw new Error(`${tenant} cannot be the name of a file`)
    return join(folder, `${tenant}.db`)
  }

  /** A database with all tables and no rows: copying it takes a hundredth of the time of the migrations. */
  async function makeTemplate(): Promise<string> {
    const path = join(folder, templateName)
    if (existsSync(path)) return path
    const made = join(folder, 'template.new')
    await removeFile(made)
    await (await sqliteDatabase(made, { owners })).close()
    await rename(made, path)
    return path
  }

  const makeTemplateOnce = (): Promise<string> =>
    (template ??= makeTemplate().catch((error: unknown) => {
      template = undefined
      throw error
    }))

  return {
    pathOf,

    /** What a process left half made is removed, and templates of other versions. */
    async begin(): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const name of await readdir(folder))
        if (partial.test(name) && name !== templateName) await removeFile(join(folder, name))
    },

    isThere: (tenant: string): boolean => existsSync(pathOf(tenant)),

    /** Whole or not at all, whenever the process dies. */
    async make(tenant: string): Promise<void> {
      const path = pathOf(tenant)
      const made = `${path}.new`
      try {
        await copyFile(await makeTemplateOnce(), made)
        await sync(made)
        // SQLite would play the log of a file that was removed into this one.
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

    /** A server may have it open. */
    openBeside: (tenant: string): Promise<Database> =>
      sqliteDatabase(pathOf(tenant), { ...rules, alone: false }),

    /** It must be closed. */
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

/** The log goes last: a file without its log would be another database than it was. */
async function removeFile(path: string): Promise<void> {
  for (const name of [path, `${path}-shm`, `${path}-wal`]) await rm(name, { force: true })
}

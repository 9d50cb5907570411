/**
 * One workspace as a file of JSON lines: a head, the rows, the sums of each table, and a signature. Every kind of
 * database can restore it. A key of the root secret signs the file: a forged file could name rows and blobs of other
 * workspaces, or the deployment's audit.
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import type { Queries, Reads } from '../database.ts'
import { isCurrent, migrationNames } from '../migrate.ts'
import { movedTables } from '../tables.ts'
import type { RowDatabase } from './row-database.ts'
import type { TableName } from '../tables.ts'
import type { AnyRow, RowSums } from './tenant-rows.ts'
import {
  checkSums,
  putRows,
  removeRows,
  rowSum,
  readTableRows,
  withoutTriggers,
} from './tenant-rows.ts'

const format = 'steward-workspace/1'
/** Milliseconds without a write after which an unfinished backup counts as abandoned. */
const leftoverMs = 600_000
/** Longest line in bytes, far longer than a row of this service. */
const mostLineBytes = 64 << 20

/** Tables of control with rows of a workspace. People belong to no workspace, so a backup has none. */
const ofControl = [
  'workspaces',
  'api_keys',
  'workspace_limits',
  'spend_limits',
  'members',
  'saved_views',
] as const
const ofTenant = movedTables()

const Head = z.object({
  format: z.literal(format),
  workspace: z.string(),
  migrations: z.array(z.string()),
  root_key_id: z.string(),
  made_at: z.string(),
  /** `sealed`: only on the operator's request, because such a copy outlives the deletion of the workspace. */
  workspace_key: z.object({ id: z.string(), sealed: z.string().optional() }).optional(),
})
export type BackupHead = z.infer<typeof Head>

const Row = z.object({ table: z.string(), row: z.record(z.string(), z.unknown()) })
const End = z.object({
  sums: z.record(z.string(), z.object({ rows: z.number(), sum: z.string() })),
})
const Signature = z.object({ signature: z.string() })
const Line = z.union([Row, End, Head, Signature])

/** The signature over all lines before the last one. */
function lineSignature(key: Buffer) {
  const hmac = createHmac('sha256', key)
  return {
    add: (text: string): void => void hmac.update(`${text}\n`),
    result: (): string => hmac.digest('hex'),
  }
}

export type WorkspaceDatabases = { control: RowDatabase; tenant: RowDatabase }

type BackupSignature = {
  rootKeyId: string
  /** The key that signs the file. */
  key: Buffer
  now: string
  workspaceKey?: BackupHead['workspace_key']
}

/**
 * Runs beside servers. The file appears when it is complete; only its owner can read it. Returns the number of rows.
 */
export async function writeBackup(
  path: string,
  workspace: string,
  { control, tenant }: WorkspaceDatabases,
  { rootKeyId, key, now, workspaceKey }: BackupSignature,
): Promise<number> {
  await removeLeftovers(path)
  const made = `${path}.${randomUUID()}.new`
  const file = await open(made, 'wx', 0o600)
  const signature = lineSignature(key)
  async function put(lines: readonly object[]): Promise<void> {
    const texts = lines.map((line) => JSON.stringify(line))
    for (const text of texts) signature.add(text)
    await file.write(texts.map((text) => `${text}\n`).join(''))
  }
  try {
    const head: BackupHead = {
      format,
      workspace,
      migrations: [...migrationNames],
      root_key_id: rootKeyId,
      made_at: now,
      workspace_key: workspaceKey,
    }
    await put([head])
    const sums: RowSums = {}
    const write = async (db: Reads, tables: readonly TableName[]) => {
      for (const table of tables) {
        const sum = rowSum()
        for await (const rows of readTableRows(db, table, workspace)) {
          for (const row of rows) sum.add(row)
          await put(rows.map((row) => ({ table, row })))
        }
        sums[table] = sum.result()
      }
    }
    await control.reading((db) => write(db, ofControl))
    if (sums.workspaces?.rows !== 1) throw new Error(`there is no workspace ${workspace}`)
    await tenant.reading((db) => write(db, ofTenant))
    await put([{ sums }])
    await file.write(`${JSON.stringify({ signature: signature.result() })}\n`)
    await file.sync()
    await file.close()
    await rename(made, path)
    await syncFolder(dirname(path))
    return countOf(sums)
  } catch (error) {
    await file.close().catch(() => {})
    await rm(made, { force: true })
    throw error
  }
}

/** Removes files of killed backups to the same path. A running backup writes all the time. */
async function removeLeftovers(path: string): Promise<void> {
  const folder = dirname(path)
  const names = await readdir(folder)
  for (const name of names) {
    if (!name.startsWith(`${basename(path)}.`) || !name.endsWith('.new')) continue
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > leftoverMs) await rm(join(folder, name))
  }
}

const countOf = (sums: RowSums): number =>
  Object.values(sums).reduce((total, { rows }) => total + rows, 0)

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync()
  await folder.close()
}

type ReadLine = { text: string; line: z.infer<typeof Line> }

/** Yields the lines of a file. Throws for a line that would fill the memory. */
async function* textsOf(path: string): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let bytes = 0
  const add = (part: Buffer) => {
    parts.push(part)
    bytes += part.length
    if (bytes > mostLineBytes) throw new Error(`${path} has a line that is too long for a backup`)
  }
  const end = (): string => {
    const text = Buffer.concat(parts).toString()
    parts = []
    bytes = 0
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
  const stream: AsyncIterable<Buffer> = createReadStream(path)
  for await (const chunk of stream) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, at))
      yield end()
      from = at + 1
    }
    add(chunk.subarray(from))
  }
  if (bytes > 0) yield end()
}

async function* linesOf(path: string): AsyncGenerator<ReadLine> {
  let number = 0
  for await (const text of textsOf(path)) {
    number++
    const parsed = Line.safeParse(jsonOf(text))
    if (!parsed.success) throw new Error(`line ${number} of ${path} is not part of a backup`)
    yield { text, line: parsed.data }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const known = new Set<string>([...ofControl, ...ofTenant])
const isKnown = (table: string): table is TableName => known.has(table)

type BackupKeys = { rootKeyIds: readonly string[]; keys: readonly Buffer[] }

/** Throws unless the file is complete, of this version, sealed under a given root key, and signed by a given key. */
export async function checkBackup(
  path: string,
  { rootKeyIds, keys }: BackupKeys,
): Promise<BackupHead & { sums: RowSums }> {
  let head: BackupHead | undefined
  let end: RowSums | undefined
  let signature: string | undefined
  const expected = keys.map(lineSignature)
  const sums: Partial<Record<TableName, ReturnType<typeof rowSum>>> = {}
  for await (const { text, line } of linesOf(path)) {
    if (signature !== undefined) throw new Error(`${path} goes on behind its end`)
    if ('signature' in line) {
      signature = line.signature
      continue
    }
    for (const each of expected) each.add(text)
    if ('format' in line) head = line
    else if ('sums' in line) end = line.sums
    else if (!isKnown(line.table))
      throw new Error(`${path} has rows of an unknown table ${line.table}`)
    else (sums[line.table] ??= rowSum()).add(line.row)
  }
  if (!head || !end || signature === undefined)
    throw new Error(`${path} is not a whole backup: its end is missing`)
  const found: RowSums = {}
  for (const table of Object.keys(end)) {
    if (!isKnown(table)) throw new Error(`${path} has rows of an unknown table ${table}`)
    found[table] = (sums[table] ?? rowSum()).result()
  }
  checkSums(end, found, path)
  checkHead(path, head, rootKeyIds)
  checkSignature(path, signature, expected)
  return { ...head, sums: end }
}

function checkHead(path: string, head: BackupHead, rootKeyIds: readonly string[]): void {
  if (!isCurrent(head.migrations))
    throw new Error(
      `${path} was made by another version of Steward, with the tables of ${head.migrations.at(-1)}: restore it with that version, then start this one`,
    )
  if (!rootKeyIds.includes(head.root_key_id))
    throw new Error(
      `${path} was sealed under another PLATFORM_ROOT_SECRET (key ${head.root_key_id}): start with that secret, or give it as PLATFORM_ROOT_SECRET_PREVIOUS`,
    )
}

function checkSignature(
  path: string,
  signature: string,
  expected: readonly ReturnType<typeof lineSignature>[],
): void {
  const given = Buffer.from(signature)
  const isSigned = expected.some((each) => {
    const own = Buffer.from(each.result())
    return given.length === own.length && timingSafeEqual(given, own)
  })
  if (!isSigned)
    throw new Error(
      `${path} is not signed by this deployment: restore a file as backup-workspace has written it, under the same PLATFORM_ROOT_SECRET`,
    )
}

/** Replaces the rows of a tenant with those of the file, in one transaction. No server may run. */
export async function restoreRows(
  path: string,
  workspace: string,
  tenant: RowDatabase,
): Promise<number> {
  let count = 0
  await tenant.writing((tx) =>
    withoutTriggers(tx, ofTenant, async () => {
      for (const table of ofTenant) await removeRows(tx, table, workspace)
      count += await putLines(tx, path, workspace, ofTenant)
    }),
  )
  return count
}

/**
 * Restores the rows of control; call it before `restoreRows`. An existing workspace keeps its keys, members and limits,
 * and the result is false. A missing one gets them back, with the members that still have an account. A running removal
 * of the workspace ends, because it would remove the restored rows.
 */
export const restoreWorkspace = (
  path: string,
  workspace: string,
  control: RowDatabase,
): Promise<boolean> =>
  control.writing(async (tx) => {
    const known = await tx
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', workspace)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (known) return false
    await tx.deleteFrom('workspace_removals').where('tenant_id', '=', workspace).execute()
    for (const table of ofControl) await removeRows(tx, table, workspace)
    await putLines(tx, path, workspace, ofControl)
    await tx
      .deleteFrom('members')
      .where('tenant_id', '=', workspace)
      .where('person_id', 'not in', tx.selectFrom('people').select('id'))
      .execute()
    await tx
      .deleteFrom('saved_views')
      .where('tenant_id', '=', workspace)
      .where('owner_id', '<>', '')
      .where('owner_id', 'not in', tx.selectFrom('people').select('id'))
      .execute()
    return true
  })

/** Keys that no other workspace has. The key of the settings moves to another workspace when the first is deleted. */
async function freeKeys(tx: Queries, rows: readonly AnyRow[]): Promise<AnyRow[]> {
  const hashes = rows.map(({ hash }) => String(hash))
  const taken = await tx.selectFrom('api_keys').select('hash').where('hash', 'in', hashes).execute()
  return rows.filter((row) => !taken.some(({ hash }) => hash === row['hash']))
}

async function putLines(
  tx: Queries,
  path: string,
  workspace: string,
  tables: readonly TableName[],
): Promise<number> {
  let count = 0
  let some: { table: TableName; rows: AnyRow[] } | undefined
  const flush = async () => {
    if (!some) return
    const { table, rows } = some
    await putRows(tx, table, table === 'api_keys' ? await freeKeys(tx, rows) : rows)
    some = undefined
  }
  for await (const { line } of linesOf(path)) {
    if (!('row' in line) || !isKnown(line.table) || !tables.includes(line.table)) continue
    const owner = line.row[line.table === 'workspaces' ? 'id' : 'tenant_id']
    if (owner !== workspace) throw new Error(`${path} has a row of another workspace`)
    if (some && (some.table !== line.table || some.rows.length >= 50)) await flush()
    some ??= { table: line.table, rows: [] }
    some.rows.push(line.row)
    count++
  }
  await flush()
  return count
}

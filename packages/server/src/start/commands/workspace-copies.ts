/** Commands that back up and restore a workspace. */
import { resolve } from 'node:path'
import { iso, systemClock } from '@steward/base/time.ts'
import type { Config } from '../../ground/config/config.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { BackupHead } from '../../ground/database/per-tenant/backup.ts'
import {
  checkBackup,
  restoreRows,
  restoreWorkspace,
  writeBackup,
} from '../../ground/database/per-tenant/backup.ts'
import { readDatabaseShape } from '../../ground/database/per-tenant/database-shape.ts'
import { tenantDatabaseStore } from '../../ground/database/per-tenant/tenant-databases.ts'
import {
  sealOfRow,
  workspaceKeyContext,
  workspaceKeys,
  workspaceKeyStore,
} from '../../ground/database/workspace-keys.ts'
import type { Sealed } from '../../ground/core/security/seal.ts'
import { workspaceId } from '../../tenants/workspaces/create.ts'
import { byOperator } from './audit.ts'
import { keysFor, createServerSeal } from '../storage.ts'
import type { RowDatabases } from './row-databases.ts'
import { withRows } from './row-databases.ts'

const backupKeys = (config: Config) => keysFor(config, 'workspace backup')

/** Writes the audit line of a command about the workspace that `find` returns. Returns the id of the workspace. */
const tellOf = (
  control: Database,
  command: string,
  find: (tx: Queries) => Promise<{ id: string; after: { made_at: string } | null }>,
): Promise<string> =>
  byOperator({ control, open: async () => control }, command, (databases) =>
    databases.control.write(async (tx) => {
      const { id, after } = await find(tx)
      auditChange({ type: 'workspace', id, after })
      return id
    }),
  )

type WorkspaceFile = { workspace: string; rows: number }

/**
 * Creates the workspace's key if it is missing. Otherwise a secret that is sealed during the backup could be under
 * another key.
 */
async function keyOfBackup(
  config: Config,
  control: Database,
  { workspace, isWithKey }: { workspace: string; isWithKey: boolean },
): Promise<BackupHead['workspace_key']> {
  const root = createServerSeal(config)
  await workspaceKeys(control, root, systemClock).hold(workspace)
  const row = await workspaceKeyStore(control.read).find(workspace)
  if (!row) return undefined
  return { id: sealOfRow(root, row).keyId, ...(isWithKey && { sealed: row.sealed }) }
}

/**
 * Restores the key in the backup. Returns false when the file has no key and the key of the secrets is no longer there.
 */
async function restoreKey(
  config: Config,
  control: Database,
  { workspace, made_at, workspace_key: kept }: BackupHead,
): Promise<boolean> {
  if (!kept) return true
  const root = createServerSeal(config)
  if (kept.sealed === undefined) {
    const row = await workspaceKeyStore(control.read).find(workspace)
    return row !== undefined && sealOfRow(root, row).keyId === kept.id
  }
  const context = workspaceKeyContext(workspace)
  const sealed = root.seal(root.open(kept.sealed as Sealed, context), context)
  const row = { tenant_id: workspace, sealed, created_at: made_at }
  await control.write((tx) => workspaceKeyStore(tx).replace(row))
  return true
}

async function databaseOf({ control, databases }: RowDatabases, workspace: string) {
  const isOwn = (await readDatabaseShape(control)) === 'tenants'
  return isOwn ? databases.ofTenant(workspace) : databases.control
}

/** Works beside running servers. */
export const backUpWorkspace = (
  config: Config,
  idOrName: string,
  { path, isWithKey = false }: { path: string; isWithKey?: boolean },
): Promise<WorkspaceFile> =>
  withRows(config, { alone: false }, async (opened) => {
    const { control, databases } = opened
    if ((await readDatabaseShape(control)) === 'moving')
      throw new Error('the rows of the workspaces are being moved: let that end first')
    const workspace = await tellOf(control, 'backup-workspace', async (tx) => {
      const id = await workspaceId(tx, idOrName)
      return { id, after: null }
    })
    if ((await readDatabaseShape(control)) === 'tenants') await checkMade(control, workspace)
    const rows = await writeBackup(
      resolve(path),
      workspace,
      { control: databases.control, tenant: await databaseOf(opened, workspace) },
      {
        rootKeyId: createServerSeal(config).keyId,
        key: backupKeys(config)[0],
        now: iso(systemClock.now()),
        workspaceKey: await keyOfBackup(config, control, { workspace, isWithKey }),
      },
    )
    return { workspace, rows }
  })

async function checkMade({ read }: Database, workspace: string): Promise<void> {
  if (!(await tenantDatabaseStore(read).isKnown(workspace)))
    throw new Error(`${workspace} has no database yet, because nobody has used it`)
}

type RestoredWorkspace = WorkspaceFile & {
  /** True when the secrets of the workspace can be opened. */
  opens: boolean
}

export const restoreWorkspaceFrom = (config: Config, path: string): Promise<RestoredWorkspace> =>
  withRows(config, { alone: true }, async (opened) => {
    const { control, databases } = opened
    if ((await readDatabaseShape(control)) === 'moving')
      throw new Error('the rows of the workspaces are being moved: let that end first')
    const head = await checkBackup(path, {
      rootKeyIds: createServerSeal(config).keyIds,
      keys: backupKeys(config),
    })
    const { workspace, made_at } = head
    // The line is written first, so that no workspace is restored without a line. The deployment's chain has the line:
    // the workspace's own chain is replaced.
    await tellOf(control, 'restore-workspace', async () => ({ id: workspace, after: { made_at } }))
    await restoreWorkspace(path, workspace, databases.control)
    const opens = await restoreKey(config, control, head)
    if ((await readDatabaseShape(control)) === 'tenants') {
      await databases.make(workspace)
      const now = systemClock.now()
      await control.write(async (tx) => {
        await tenantDatabaseStore(tx).add(workspace, now)
        await tenantDatabaseStore(tx).wake(workspace, now)
      })
    }
    const rows = await restoreRows(path, workspace, await databaseOf(opened, workspace))
    return { workspace, rows, opens }
  })

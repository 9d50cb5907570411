/** The keys of workspaces. The service creates them, and only the root secret opens them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createSeal } from '@steward/server/ground/core/security/seal.ts'
import type { WorkspaceKeyRow } from '@steward/server/ground/database/workspace-keys.ts'
import { workspaceKeyContext } from '@steward/server/ground/database/workspace-keys.ts'
import type { Canary } from './canary.ts'
import { canaryOf } from './canary.ts'

/** `rows`: each as JSON. Fails when there are none. */
export function workspaceKeyCanaries(rows: readonly string[], rootSecret: string): Canary[] {
  const root = createSeal(rootSecret)
  assert.ok(rows.length > 0)
  return rows.map((row) => {
    const { tenant_id, sealed } = JSON.parse(row) as WorkspaceKeyRow
    const key = root.open(sealed, workspaceKeyContext(tenant_id))
    return canaryOf(`the key of ${tenant_id}`, key, key)
  })
}

/** Read-only, so that the write-ahead log stays as the killed server left it. */
export function workspaceKeyRows(folder: string): string[] {
  const database = new DatabaseSync(join(folder, 'steward.db'), { readOnly: true })
  try {
    return database
      .prepare('select tenant_id, sealed from workspace_keys')
      .all()
      .map((row) => JSON.stringify(row))
  } finally {
    database.close()
  }
}

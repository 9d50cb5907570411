/**
 * The key of each workspace seals the workspace's secrets. The key is sealed under the root secret and stored only in
 * the control database. It is deleted with its workspace, and then its sealed values, also in backups, never open.
 */
import { randomBytes } from 'node:crypto'
import { iso } from '@steward/base/time.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Seal } from '../core/security/seal.ts'
import { isUnderRoot, createSeal } from '../core/security/seal.ts'
import type { Database, Databases, Queries, Reads } from './database.ts'
import { defineStore } from './store-of.ts'
import type { Tables } from './tables.ts'

export type WorkspaceKeyRow = Tables['workspace_keys']

export const workspaceKeyContext = (tenant: string): string => `${tenant}/workspace_keys/sealed`

function keyReads(db: Reads) {
  return {
    find: (tenant: string): Promise<WorkspaceKeyRow | undefined> =>
      db
        .selectFrom('workspace_keys')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .executeTakeFirst(),
  }
}

function keyWrites(db: Queries) {
  return {
    /** Adds nothing when the workspace has a key, is deleted, or does not exist. */
    async add({ tenant_id, sealed, created_at }: WorkspaceKeyRow): Promise<void> {
      await db
        .insertInto('workspace_keys')
        .columns(['tenant_id', 'sealed', 'created_at'])
        .expression((from) =>
          from
            .selectFrom('workspaces')
            .select((value) => [
              'id',
              value.cast<WorkspaceKeyRow['sealed']>(value.val(sealed), 'text').as('sealed'),
              value.cast<string>(value.val(created_at), 'text').as('created_at'),
            ])
            .where('id', '=', tenant_id)
            .where('deleted_at', 'is', null),
        )
        .onConflict((conflict) => conflict.column('tenant_id').doNothing())
        .execute()
    },

    async replace(row: WorkspaceKeyRow): Promise<void> {
      await db.deleteFrom('workspace_keys').where('tenant_id', '=', row.tenant_id).execute()
      await db.insertInto('workspace_keys').values(row).execute()
    },

    async forget(tenant: string): Promise<void> {
      await db.deleteFrom('workspace_keys').where('tenant_id', '=', tenant).execute()
    },
  }
}

export const workspaceKeyStore = defineStore(keyReads, keyWrites)

/** The seal under the secret of a row. */
export const sealOfRow = (root: Seal, { tenant_id, sealed }: WorkspaceKeyRow): Seal =>
  createSeal(root.open(sealed, workspaceKeyContext(tenant_id)), [], 'v2')

export type WorkspaceKeys = {
  /** Loads the key of the workspace once, and creates a missing key. Undefined: there is no such workspace. */
  hold(tenant: string): Promise<Seal | undefined>
  isHeld(tenant: string): boolean
  /**
   * Chooses the key by the first part of the context, the workspace. That key must be loaded. An empty part: the value
   * belongs to no workspace, and lies under the root key.
   */
  seal: Seal
}

export function workspaceKeys(
  control: Pick<Database, 'read' | 'write'>,
  root: Seal,
  clock: Clock,
): WorkspaceKeys {
  const held = new Map<string, Seal>()
  const reading = new Map<string, Promise<Seal | undefined>>()

  async function read(tenant: string): Promise<Seal | undefined> {
    const { find } = workspaceKeyStore(control.read)
    const row = (await find(tenant)) ?? (await make(tenant))
    if (!row) return undefined
    const seal = sealOfRow(root, row)
    held.set(tenant, seal)
    return seal
  }

  async function make(tenant: string): Promise<WorkspaceKeyRow | undefined> {
    const secret = randomBytes(32).toString('base64url')
    const sealed = root.seal(secret, workspaceKeyContext(tenant))
    const row = { tenant_id: tenant, sealed, created_at: iso(clock.now()) }
    return control.write(async (tx) => {
      await workspaceKeyStore(tx).add(row)
      return workspaceKeyStore(tx).find(tenant)
    })
  }

  function sealFor(context: string): Seal {
    const tenant = context.slice(0, context.indexOf('/'))
    const seal = tenant === '' ? root : held.get(tenant)
    if (seal) return seal
    throw new Error(`the key of the workspace ${tenant} is not held: it was deleted, or not opened`)
  }

  return {
    isHeld: (tenant) => held.has(tenant),
    async hold(tenant) {
      const known = held.get(tenant)
      if (known) return known
      const answer = reading.get(tenant) ?? read(tenant).finally(() => reading.delete(tenant))
      reading.set(tenant, answer)
      return answer
    },
    seal: {
      ...root,
      seal: (secret, context) => sealFor(context).seal(secret, context),
      open: (sealed, context) =>
        (isUnderRoot(sealed) ? root : sealFor(context)).open(sealed, context),
    },
  }
}

/** Loads the key of a workspace whenever its database is opened, so that its secrets can be sealed and opened. */
export const withKeys = (databases: Databases, keys: WorkspaceKeys): Databases => ({
  ...databases,
  async open(tenant) {
    if (!keys.isHeld(tenant)) await keys.hold(tenant)
    return databases.open(tenant)
  },
})

import type { Migration } from 'kysely/migration'
import { Migrator } from 'kysely/migration'
import type { Queries } from './database.ts'
import * as initial from './migrations/0001-initial.ts'
import * as vaults from './migrations/0002-vaults.ts'
import * as files from './migrations/0004-files.ts'
import * as memoryStores from './migrations/0005-memory-stores.ts'
import * as skills from './migrations/0006-skills.ts'
import * as repositories from './migrations/0007-repositories.ts'
import * as attachedMemory from './migrations/0008-attached-memory.ts'
import * as packages from './migrations/0009-packages.ts'
import * as checkpoints from './migrations/0010-checkpoints.ts'
import * as outputs from './migrations/0011-outputs.ts'
import * as work from './migrations/0013-work.ts'
import * as webhooks from './migrations/0014-webhooks.ts'
import * as workIndexes from './migrations/0015-work-indexes.ts'
import * as stdioServers from './migrations/0016-stdio-servers.ts'
import * as workLeft from './migrations/0018-work-left.ts'
import * as fairTurns from './migrations/0021-fair-turns.ts'
import * as deletedSessions from './migrations/0022-deleted-sessions.ts'
import * as urlServers from './migrations/0023-url-servers.ts'
import * as cardChanges from './migrations/0024-card-changes.ts'
import * as resolvedPaths from './migrations/0026-resolved-paths.ts'
import * as workClaims from './migrations/0027-work-claims.ts'
import * as environmentNames from './migrations/0028-environment-names.ts'
import * as recoveries from './migrations/0034-recoveries.ts'
import * as inboxBytes from './migrations/0035-inbox-bytes.ts'

const migrations: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-vaults': vaults,
  '0004-files': files,
  '0005-memory-stores': memoryStores,
  '0006-skills': skills,
  '0007-repositories': repositories,
  '0008-attached-memory': attachedMemory,
  '0009-packages': packages,
  '0010-checkpoints': checkpoints,
  '0011-outputs': outputs,
  '0013-work': work,
  '0014-webhooks': webhooks,
  '0015-work-indexes': workIndexes,
  '0016-stdio-servers': stdioServers,
  '0018-work-left': workLeft,
  '0021-fair-turns': fairTurns,
  '0022-deleted-sessions': deletedSessions,
  '0023-url-servers': urlServers,
  '0024-card-changes': cardChanges,
  '0026-resolved-paths': resolvedPaths,
  '0027-work-claims': workClaims,
  '0028-environment-names': environmentNames,
  '0034-recoveries': recoveries,
  '0035-inbox-bytes': inboxBytes,
}

/** Applies what is missing, in order, once; two processes that start together do not collide. */
export async function migrate(db: Queries): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw new Error('the database could not be brought up to date', { cause: error })
}

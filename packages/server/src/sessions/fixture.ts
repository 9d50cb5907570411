/** For tests: the rows of a session, without an agent or an environment, and a process that dies. */
import type { SessionAgent, SessionStatus } from '@steward/protocol/sessions.ts'
import { StorageError } from '../ground/core/errors.ts'
import { newId } from '../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../ground/database/database.ts'
import { tenant } from './log/fixture.ts'
import { sessionStore } from './rows/sessions.ts'
import { toJson } from '../ground/core/text/json-text.ts'

export async function newSession(
  database: Database,
  status: SessionStatus = 'idle',
  tenant_id = tenant,
): Promise<string> {
  const at = iso(0)
  const id = newId('session')
  const row = {
    tenant_id,
    id,
    agent_id: 'agent_test',
    agent_version: 1,
    agent: toJson({} as SessionAgent),
    environment_id: 'env_test',
    self_hosted: 0,
    title: null,
    metadata: toJson({}),
    vault_ids: toJson<string[]>([]),
    sealed_tokens: null,
    files_revision: 0,
    archived_at: null,
    deleted_at: null,
    created_at: at,
    updated_at: at,
    roster: null,
    deployment_id: null,
    forked_from: null,
    allowances: null,
    outputs_path: null,
    creator_type: null,
    creator_id: null,
    creator_name: null,
  }
  const none = { stdio_ms: null, url_servers: 0, budget: null }
  await database.write((tx) => sessionStore(tx).insert(row, status, none))
  return id
}

/** A process that dies before its write number `last`: its database is away. */
export function dyingDatabase(database: Database, last: number): Database {
  let writes = 0
  const isDead = () => ++writes >= last
  const dead = () => Promise.reject(new StorageError('away', new Error('killed')))
  return {
    ...database,
    write: (unit) => (isDead() ? dead() : database.write(unit)),
    writeStatement: (unit) => (isDead() ? dead() : database.writeStatement(unit)),
  }
}

/** For tests: the egress over a real database, with sessions and credentials of their own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import type { AuthCreate, AuthUpdate } from '@steward/protocol/credential-auth.ts'
import { noRules } from '../../../ground/core/rules/rules.ts'
import { memoryBus } from '../../../ground/bus/memory.ts'
import { dialsFor } from '../../../ground/core/security/dial.ts'
import { jsonLog } from '@steward/base/log.ts'
import { createSeal } from '../../../ground/core/security/seal.ts'
import { createShare } from '../../../ground/core/fairness/share.ts'
import type { Clock } from '@steward/base/time.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database, Queries } from '../../../ground/database/database.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import type { TestDatabase } from '../../../ground/database/fixture.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { tenant } from '../../../sessions/log/fixture.ts'
import { newSession } from '../../../sessions/fixture.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { createCredential, createVault, updateCredential } from '../../../resources/vaults/write.ts'
import type { EgressOptions } from '../egress.ts'
import { agentIdentity } from '../identity/keys.ts'
import { createEgress } from '../egress.ts'
import { connectTo } from '../fixture.ts'
import { toJson } from '../../../ground/core/text/json-text.ts'

export { tenant }
export const seal = createSeal('a root secret for tests')
export const environment: EnvironmentRecord = { ...emptyEnvironment, name: 'test' }

const noSecretManagers = {
  read: () => Promise.reject(new Error('there is no secret manager here')),
  readAnew: () => Promise.reject(new Error('there is no secret manager here')),
}

export type TestEgress = Awaited<ReturnType<typeof openTestEgress>>

/** Every host name leads to the upstream at this port. */
export async function openTestEgress(
  upstream: { port: number },
  options: Partial<EgressOptions> & { database?: Database; clock?: Clock } = {},
) {
  const opened: Pick<TestDatabase, 'database'> & AsyncDisposable = options.database
    ? { database: options.database, [Symbol.asyncDispose]: async () => {} }
    : await databases.sqlite()
  const { database } = opened
  const folder = await mkdtemp(join(tmpdir(), 'steward-egress-'))
  const { clock = systemClock } = options
  const logged: Record<string, unknown>[] = []
  const built = createEgress({
    databases: oneDatabase(database),
    seal,
    clock,
    log: jsonLog((line) => logged.push(JSON.parse(line) as Record<string, unknown>)),
    profile: 'required',
    companySecrets: noSecretManagers,
    connect: connectTo(upstream),
    dial: dialsFor('tenant', () => Promise.reject(new Error('no tunnels here'))),
    operatorConnect: dialsFor('operator', connectTo(upstream)),
    rules: noRules,
    placeholderKey: Buffer.alloc(32, 3),
    identity: agentIdentity('https://steward.example', [Buffer.alloc(32, 5)]),
    ...{ authorityKeys: [Buffer.alloc(32, 4)], bus: memoryBus() },
    folder,
    ...{ connections: createShare({ total: 1_000, percent: 100 }), mostConnections: 1_000 },
    ...options,
  })

  const writing = (tx: Queries) => ({
    tx,
    tenant,
    seal,
    keyId: 'apikey_1',
    isAdmin: true,
    now: clock.now(),
  })

  async function vaultWith(...auths: AuthCreate[]): Promise<{ vault: string; ids: string[] }> {
    return database.write(async (tx) => {
      const vault = await createVault(writing(tx), { display_name: 'test' })
      const ids: string[] = []
      for (const auth of auths)
        ids.push((await createCredential(writing(tx), vault.id, { auth })).id)
      return { vault: vault.id, ids }
    })
  }

  return {
    egress: built,
    database,
    logged,
    folder,
    vaultWith,

    /** A session with these vaults, bound as the runner binds it. */
    async session(vaults: string[], bound: Partial<EnvironmentRecord> = {}) {
      const id = await newSession(database)
      await database.write((tx) =>
        sessionStore(tx).update(tenant, id, { vault_ids: toJson(vaults) }, clock.now()),
      )
      const lease = { tenant, session: id, environment: { ...environment, ...bound } }
      return { id, egress: built.bind({ ...lease, generation: 0 }) }
    },

    async change(vault: string, id: string, auth: AuthUpdate): Promise<void> {
      await database.write((tx) => updateCredential(writing(tx), vault, id, { auth }))
    },

    async [Symbol.asyncDispose]() {
      await built.close()
      await opened[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

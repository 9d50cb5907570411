import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { AgentCreate } from '@steward/protocol/agents.ts'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import { sealUnder } from '../../ground/core/seal.ts'
import { databases } from '../../ground/database/fixture.ts'
import { configOf } from '../../resources/agents/config.ts'
import { agentStore } from '../../resources/agents/store.ts'
import { environmentStore } from '../../resources/environments/store.ts'
import { dying, newSession } from '../../sessions/fixture.ts'
import { keep, tenant } from '../../sessions/log/fixture.ts'
import type { ForkOpening } from '../../sessions/open-fork.ts'
import { resourceKinds } from '../../sessions/resources/kinds.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { continueLive } from './continue.ts'

const seal = sealUnder('a root secret of a test')

const deps: ForkOpening = {
  seal,
  clock: systemClock,
  bus: memoryBus(),
  kinds: resourceKinds({ seal, repositoryHosts: [], storeAccess: 'read_write' }),
  refuseImage: () => undefined,
  refusePackages: () => undefined,
  workerInputs: [],
  resolveModel: async () => ({ ok: false, message: 'no model is asked' }),
  limits: { quotas: { daily: async () => async () => {} } },
}

for (const [name, open] of Object.entries(databases)) {
  describe(`a replay that goes on live on ${name}`, () => {
    // verifies: replays/continue/killed
    it('leaves no session without its message, wherever its process dies', async () => {
      await using opened = await open()
      const { database } = opened
      const { read } = database
      const session = await newSession(database)
      const { config } = configOf(AgentCreate.parse({ name: 'a', model: 'offline', tools: [] }))
      const agent = await database.write(async (tx) => {
        const record = { ...emptyEnvironment, name: 'e' }
        const environment = await environmentStore(tx).create(tenant, record, 0)
        await tx.updateTable('sessions').set({ environment_id: environment.id }).execute()
        return (await agentStore(tx).create(tenant, config, {}, 0)).id
      })
      const text = (text: string) => [{ type: 'text' as const, text }]
      const asked = { id: newId('event'), type: 'user.message' as const, content: text('one') }
      await keep(database, session, [asked])
      const turns = [{ from: 1, given: [asked], made: [] }]
      let continued: string | undefined
      let last = 0
      while (continued === undefined) {
        const place = { db: dying(database, ++last), tenant }
        continued = await continueLive(deps, place, { session, agent, turns, index: 0 }).catch(
          (error: unknown) => {
            assert.ok(error instanceof StorageError)
            return undefined
          },
        )
        const listed = await sessionStore(read).undeleted(tenant, 10)
        const waiting = await read.selectFrom('inbox').select('session_id').execute()
        assert.deepEqual(
          listed.filter((id) => id !== session),
          waiting.map(({ session_id }) => session_id),
        )
      }
      assert.ok(last > 2, `${last} writes`)
    })
  })
}

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { z } from 'zod'
import { auditStore } from '@steward/server/tenants/audit/store.ts'
import { publishSigned } from '../signed-publication.ts'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename))
  describe(`actors that are no person, in the audit on ${database}`, () => {
    let service: TestService
    let receiver: PostReceiver
    before(async () => {
      receiver = await startReceiver()
      service = await boot(database)
    })
    after(async () => {
      await service.close()
      await receiver.close()
    })

    async function subject() {
      const { agents, environments } = service.client.beta
      const agent = await agents.create({ name: fresh('agent'), model: 'offline' })
      const environment = await environments.create({ name: fresh('environment') })
      return { agent: agent.id, environment_id: environment.id }
    }

    const linesOf = async (session: string, action: string) =>
      (await service.ask('GET', `/v1/ext/audit?resource_id=${session}&action=${action}`)).body.data

    const first = { type: 'api_key', name: 'first key' }
    const named = (actor: unknown) => z.object({ type: z.string(), name: z.string() }).parse(actor)

    const Line = z.looseObject({ after: z.looseObject({ on_behalf_of: z.unknown() }) })
    const behind = (line: unknown) => named(Line.parse(line).after.on_behalf_of)

    /** Writes that the session has used a credential, and returns whom the list of uses names. */
    async function useBy(session: string) {
      const { tenantDatabase } = service
      const { tenant_id } = await tenantDatabase.read
        .selectFrom('sessions')
        .select('tenant_id')
        .where('id', '=', session)
        .executeTakeFirstOrThrow()
      const use = { vault_id: 'vlt_1', credential_id: 'cred_1', caller: 'rpc-mcp', server: 'srv' }
      const row = { ...use, id: fresh('cuse'), host: 'mcp.example', method: 'POST' }
      const created_at = new Date().toISOString()
      await tenantDatabase.write((tx) =>
        auditStore(tx).begin([{ ...row, tenant_id, session_id: session, created_at }]),
      )
      const { body } = await service.ask(
        'GET',
        `/v1/ext/audit/credential_uses?session_id=${session}`,
      )
      assert.equal(body.data.length, 1)
      const [found] = body.data
      return { actor: found?.['actor'], on_behalf_of: named(found?.['on_behalf_of']) }
    }

    /** The thing is the actor of the line of the session, and of the use of a credential; the key is behind it. */
    async function actsIn(session: string, actor: object): Promise<void> {
      const [line, ...others] = await linesOf(session, 'session.create')
      assert.deepEqual(others, [])
      assert.deepEqual(line?.['actor'], actor)
      assert.deepEqual(behind(line), first)
      assert.deepEqual(await useBy(session), { actor, on_behalf_of: first })
    }

    verifies(
      ['audit/lines/acting', 'audit/uses'],
      'a trial of an eval names the eval, and who has made it',
      async () => {
        const name = fresh('eval')
        const { body: run } = await service.ask('POST', '/v1/ext/evals', {
          ...(await subject()),
          name,
          samples: [{ input: 'say: a' }],
          graders: [{ name: 'says', type: 'text', op: 'includes', value: 'a' }],
        })
        let session = ''
        await until(async () => {
          const { body } = await service.ask('GET', `/v1/ext/evals/${run.id}/results`)
          const id = body.data[0]?.['session_id']
          if (typeof id === 'string') session = id
          return session !== ''
        })
        await actsIn(session, { type: 'eval_run', id: run.id, name })
      },
    )

    verifies(
      ['audit/lines/acting', 'audit/uses'],
      'the session of a dream names the dream, and who has made it',
      async () => {
        const { beta } = service.client
        const store = await beta.memoryStores.create({ name: fresh('notes') })
        const given = await newSession(service)
        await turn(service, given, 'say: the port is 4711')
        const { id } = await beta.dreams.create({
          inputs: [
            { type: 'sessions', session_ids: [given] },
            { type: 'memory_store', memory_store_id: store.id },
          ],
          model: 'offline',
          instructions: 'say: dreamt',
        })
        let session: string | null = null
        await until(async () => {
          session = (await beta.dreams.retrieve(id)).session_id
          return session !== null
        })
        await actsIn(String(session), { type: 'dream', id, name: null })
      },
    )

    verifies(
      ['audit/lines/acting', 'audit/uses'],
      'the session of a publication names the publication in each line, and who has made it',
      async () => {
        const environment = (await subject()).environment_id
        const { send, told, deliveries, id } = await publishSigned({
          service,
          receiver,
          environment,
        })
        for (const text of ['say: One.', 'say: Two.']) {
          const before = told().length
          assert.equal(await send('7', text), 200)
          await until(() => told().length > before)
        }
        const session = String((await deliveries())[0]?.session_id)
        const actor = { type: 'publication', id, name: 'webhook' }
        await actsIn(session, actor)
        const posted = await linesOf(session, 'session.post')
        assert.ok(posted.length > 0)
        for (const line of posted) assert.deepEqual(line['actor'], actor)
      },
    )

    verifies(
      ['audit/lines/acting'],
      'a wakeup names its session, and who has made the session',
      async () => {
        const tools = [{ type: 'agent_toolset_20260401', schedule_wakeup: {} }]
        const session = await newSession(service, { tools })
        await turn(service, session, 'call schedule_wakeup {"after_seconds": 1, "note": "say: up"}')
        await until(async () => (await linesOf(session, 'session.wakeup')).length > 0)
        const [line] = await linesOf(session, 'session.wakeup')
        assert.deepEqual(line?.['actor'], { type: 'session', id: session, name: null })
        assert.deepEqual(behind(line), first)
      },
    )
  })

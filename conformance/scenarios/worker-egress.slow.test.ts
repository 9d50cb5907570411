/** The egress of sandboxes on workers: our worker as a process, real sandboxes, real upstreams. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe } from 'node:test'
import type { TestUpstream } from '@steward/server/engine/egress/fixture.ts'
import { connectBy, echo, upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, fresh, post, say, textOf } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import type { WorkerPool } from '../workers.ts'
import { newPool, sessionIn } from '../workers.ts'

const canary = () => `canary-${Math.random().toString(36).slice(2)}-${Date.now().toString(36)}`
const bearer = (token: string) => ({
  type: 'static_bearer',
  token,
  mcp_server_url: 'https://api.example/mcp',
})

for (const database of scenarioDatabases(import.meta.filename))
  describe(`sandboxes of workers on ${database}`, () => {
    let service: TestService
    let api: TestUpstream
    let reached: string[]
    before(async () => {
      reached = []
      api = await upstreamServer((request, response) => {
        reached.push(`${request.headers.host} ${request.url}`)
        return echo(request, response)
      })
      const hosts = { 'api.example': api, 'other.example': api }
      service = await boot(database, {
        overrides: {
          nameOverride: {
            connect: connectBy(hosts),
            dial: async () => connect(api.port, '127.0.0.1'),
          },
        },
      })
    })
    after(async () => {
      await service.close()
      await api[Symbol.asyncDispose]()
    })

    async function poolWith(more: object): Promise<WorkerPool> {
      const pool = await newPool(service)
      const changed = await service.ask('POST', pool.path, more)
      assert.equal(changed.status, 200, JSON.stringify(changed.body))
      return pool
    }

    async function vaultOf(...auths: object[]): Promise<string> {
      const credentials = auths.map((auth) => ({ auth }))
      const made = await service.ask('POST', '/v1/vaults', { name: fresh('vault'), credentials })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return made.body.id
    }

    async function answered(session: string, text: string): Promise<SeenEvent[]> {
      const stream = await service.client.beta.sessions.events.stream(session)
      await post(service, session, text)
      for await (const event of stream)
        if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break
      return say(service, session)
    }
    const lastOf = (log: readonly SeenEvent[]) =>
      textOf(all(log, 'user.tool_result').at(-1) as SeenEvent)

    verifies(
      ['egress/fence/no-token', 'egress/fence/scope'],
      'a command is answered as the holder of a token that never reaches the worker, within the lists of the environment',
      async () => {
        const [token, value] = [canary(), canary()]
        const variable = {
          type: 'environment_variable',
          secret_name: 'API_TOKEN',
          secret_value: value,
          networking: { type: 'limited', allowed_hosts: ['api.example'] },
        }
        const env = { GIVEN: 'by the environment' }
        const pool = await poolWith({ network: { allowlist: ['api.example'] }, env })
        await using worker = await startWorker(workerVariables(service, pool))
        const vault = await vaultOf(bearer(token), variable)
        const session = await sessionIn(service, pool, {}, { vault_ids: [vault] })
        const log = await answered(session, 'run: curl -sS https://api.example/echo')
        const echoed = JSON.parse(lastOf(log)) as { headers: { authorization: string } }
        assert.equal(echoed.headers.authorization, `Bearer ${'*'.repeat(token.length)}`)

        const shown = lastOf(await answered(session, 'run: echo $GIVEN; echo $API_TOKEN; env'))
        assert.match(shown, /^by the environment\n\S+\n/)
        assert.ok(!shown.includes(value) && !shown.includes(token))
        const used = 'run: curl -sS -H "X-Key: $API_TOKEN" https://api.example/'
        assert.ok(lastOf(await answered(session, used)).includes('*'.repeat(value.length)))

        const before = reached.length
        const refused = lastOf(await answered(session, 'run: curl -sS https://other.example/'))
        assert.match(refused, /403/)
        const direct = "run: curl -sS --noproxy '*' -m 3 https://93.184.216.34/"
        assert.match(lastOf(await answered(session, direct)), /curl: \(\d+\)/)
        assert.equal(reached.length, before)
        assert.ok(!worker.said().includes(token))
        const uses = `/v1/ext/audit/credential_uses?session_id=${session}`
        const { body } = await service.ask('GET', uses)
        const hosts = new Set(
          body.data.map((use) => `${String(use['caller'])} ${String(use['host'])}`),
        )
        assert.deepEqual([...hosts], ['rpc-outbound api.example'])
      },
    )

    verifies(
      'worker/lane/ama-worker',
      'the official worker’s sandbox reaches the service alone, and what its session may where the operator says so',
      async () => {
        const pool = await poolWith({ network: { allowlist: ['api.example'] } })
        const vault = await vaultOf(bearer(canary()))
        const env = { ...workerVariables(service, pool), WORKER_LANE: 'ama_worker' }
        const ask = 'run: curl -sS -m 9 https://api.example/echo'
        {
          await using worker = await startWorker(env)
          const session = await sessionIn(service, pool, {}, { vault_ids: [vault] })
          assert.match(lastOf(await answered(session, ask)), /403/, worker.said())
          await worker.stop()
        }
        await using worker = await startWorker({ ...env, WORKER_EGRESS: 'session' })
        const session = await sessionIn(service, pool, {}, { vault_ids: [vault] })
        assert.match(lastOf(await answered(session, ask)), /Bearer \*{20}/, worker.said())
        const other = 'run: curl -sS -m 9 https://other.example/'
        assert.match(lastOf(await answered(session, other)), /403/, worker.said())
      },
    )
  })

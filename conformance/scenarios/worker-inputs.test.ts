/** The inputs of a session on a worker. The service refuses invalid inputs before any worker hears of them. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { newPool, poll, sessionIn } from '../workers.ts'

const repository = { type: 'github_repository', url: 'https://git.example/a/b' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`inputs of workers on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())

    async function refused(at: TestService, agent: object, session: object): Promise<string> {
      const pool = await newPool(at)
      const error = await sessionIn(at, pool, agent, session).then(
        () => assert.fail('it was made'),
        (found: Error & { status?: number }) => found,
      )
      assert.equal(error.status, 400)
      assert.equal(await poll(at, pool), null)
      const { body } = await at.ask('GET', `${pool.path}/work`)
      assert.deepEqual(body.data, [])
      return error.message
    }
    const file = async (at: TestService) => {
      const made = await at.client.beta.files.upload({ file: new File(['text'], 'a.txt') })
      return { type: 'file', file_id: made.id }
    }

    verifies(
      ['worker/input/no-materializer', 'errors/case/no-materializer', 'worker/input/refused'],
      'a session with a resource that its workers cannot mount is refused by name, and no worker is asked to run it',
      async () => {
        const some = await file(service)
        const said = await refused(service, {}, { resources: [some] })
        assert.match(said, /resources\.0: .*cannot mount a file;.*WORKER_INPUTS=files/)
        const both = { resources: [repository, some] }
        assert.match(
          await refused(service, {}, both),
          /resources\.0: .*cannot mount a github_repository.*WORKER_INPUTS=repositories/,
        )
        const session = await sessionIn(service, await newPool(service))
        const added = await service.ask('POST', `/v1/sessions/${session}/resources`, some)
        assert.equal(added.status, 400)
        assert.match(JSON.stringify(added.body), /WORKER_INPUTS=files/)
      },
    )

    verifies(
      'worker/input/refused',
      'resources that the deployment’s workers can mount are accepted, and nothing else',
      async () => {
        const env = { WORKER_INPUTS: 'files' }
        const other = await boot(database, { env })
        try {
          const some = await file(other)
          const session = await sessionIn(other, await newPool(other), {}, { resources: [some] })
          const again = { ...some, mount_path: '/workspace/b.txt' }
          const added = await other.ask('POST', `/v1/sessions/${session}/resources`, again)
          assert.equal(added.status, 200)
          const said = await refused(other, {}, { resources: [some, repository] })
          assert.match(said, /resources\.1: .*cannot mount a github_repository/)
        } finally {
          await other.close()
        }
      },
    )

    verifies(
      'worker/input/refused',
      'tools of the sandbox and secrets of commands are refused by name, also where a session is changed to them',
      async () => {
        const tool = {
          ...{ type: 'custom', name: 'deploy', description: 'd' },
          ...{ input_schema: { type: 'object' }, execution: { type: 'sandbox', command: 'true' } },
        }
        const said = await refused(service, { tools: [tool] }, {})
        assert.match(said, /agent\.tools\.0\.execution: the tool deploy/)
        const session = await sessionIn(service, await newPool(service))
        const changed = await service.ask('POST', `/v1/sessions/${session}`, {
          agent: { tools: [tool] },
        })
        assert.equal(changed.status, 400)

        const vault = await service.ask('POST', '/v1/vaults', { display_name: fresh('vault') })
        const auth = {
          ...{ type: 'command_secret', env_var: 'A_TOKEN', token: 'secret-token' },
          command_prefixes: ['deploy'],
        }
        const path = `/v1/vaults/${vault.body.id}/credentials`
        const made = await service.ask('POST', path, { auth })
        const message = await refused(service, {}, { vault_ids: [vault.body.id] })
        assert.match(message, new RegExp(`vault_ids\\.0: the command_secret ${made.body.id}`))
        await service.ask('POST', `${path}/${made.body.id}/archive`)
        await sessionIn(service, await newPool(service), {}, { vault_ids: [vault.body.id] })
      },
    )
  })
}

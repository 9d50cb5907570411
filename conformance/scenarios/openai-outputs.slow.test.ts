/** Files that sessions of `/openai/v1` leave for people, by the unmodified `openai` client. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import { newestOpenAI } from '../openai.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const hosted = { type: 'openai_hosted' } as const

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`artifacts of the OpenAI surface, on ${database}`, () => {
    let service: TestService
    let agents: OpenAI['beta']['agents']
    before(async () => {
      service = await boot(database)
      agents = newestOpenAI(service).beta.agents
    })
    after(() => service.close())

    const pathsOf = async (session: string): Promise<string[]> => {
      const { data } = await agents.sessions.artifacts.list(session, { order: 'asc' })
      return data.map(({ path }) => path ?? '').toSorted()
    }

    /** Runs a turn of the offline model. */
    const turnOf = async (id: string, input: string): Promise<void> => {
      await agents.sessions.stream(id, { input }).finalResult()
    }

    verifies(
      'openai/artifacts/path',
      'a file of /workspace/outputs is an artifact with exactly this path',
      async () => {
        const turn = await agents.sessions.create({
          ...{ agent: { model: 'offline' }, environment: hosted, stream: true, toolHandlers: {} },
          input: 'run: mkdir -p /workspace/outputs && echo report > /workspace/outputs/report.txt',
        })
        const result = await turn.finalResult()
        assert.deepEqual(await pathsOf(result.session_id), ['/workspace/outputs/report.txt'])
        const of = { session_id: result.session_id }
        const [artifact] = (await agents.sessions.artifacts.list(result.session_id)).data
        assert.ok(artifact)
        const content = await agents.sessions.artifacts.content(artifact.id, of)
        assert.equal(await content.text(), 'report\n')
      },
    )

    verifies(
      'openai/artifacts/path',
      'the folder is there before the first command, also under its other path, and again after it was removed',
      async () => {
        const { id } = await agents.sessions.create({
          ...{ agent: { model: 'offline' }, environment: hosted },
        })
        await turnOf(id, 'run: echo a > outputs/a.txt; echo b > /mnt/session/outputs/b.txt')
        const both = ['/workspace/outputs/a.txt', '/workspace/outputs/b.txt']
        assert.deepEqual(await pathsOf(id), both)
        await turnOf(id, 'run: rm -rf outputs; mkdir -p outputs/of; echo c > outputs/of/c.txt')
        assert.deepEqual(await pathsOf(id), [...both, '/workspace/outputs/of/c.txt'])
      },
    )

    verifies(
      'openai/artifacts/path',
      'a link instead of the folder publishes nothing of this machine',
      async () => {
        const { id } = await agents.sessions.create({
          ...{ agent: { model: 'offline' }, environment: hosted },
        })
        await turnOf(id, 'run: rm -rf outputs; ln -s /etc outputs')
        assert.deepEqual(await pathsOf(id), [])
      },
    )

    verifies(
      'openai/artifacts/path',
      'the prompt names the folder, and the sessions of an automation have it too',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const model = await pricedModel(service, stub, { input: 1, output: 1 })
        const command = JSON.stringify({ command: 'echo x > /workspace/outputs/x.txt' })
        stub.replies(
          {
            blocks: [{ type: 'tool_call', id: 'toolu_1', name: 'bash', pieces: [command] }],
            stop: 'tool_use',
          },
          { blocks: [{ type: 'text', pieces: ['written'] }], stop: 'end_turn' },
        )
        const agent = await agents.create({ model })
        const automation = await agents.automations.create({
          ...{ name: 'files', type: 'periodic', expression: '0 0 1 1 *', timezone: 'UTC' },
          target: {
            ...{ type: 'new_session', agent_id: agent.id, environment: hosted },
            input: [{ role: 'user', content: [{ type: 'input_text', text: 'write' }] }],
          },
        })
        const { session_id } = await agents.automations.invocations.create(automation.id)
        assert.ok(session_id)
        await until(async () => (await pathsOf(session_id)).length > 0)
        assert.deepEqual(await pathsOf(session_id), ['/workspace/outputs/x.txt'])
        const asked = stub.requests.at(-1)
        assert.match(JSON.stringify(asked?.body), /Files for the user go to \/workspace\/outputs\./)
      },
    )
  })
}

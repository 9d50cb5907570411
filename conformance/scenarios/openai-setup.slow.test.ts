/** What environments of `/openai/v1` bring into sessions: bytes, commands and vaults, by the unmodified client. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import { newestOpenAI } from '../openai.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const hosted = { type: 'openai_hosted' } as const
const inline = (path: string, text: string) =>
  ({ type: 'inline', path, data: Buffer.from(text).toString('base64') }) as const

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`files, commands and vaults of environments of the OpenAI surface, on ${database}`, () => {
    let service: TestService
    let client: OpenAI
    let agents: OpenAI['beta']['agents']
    before(async () => {
      service = await boot(database)
      client = newestOpenAI(service)
      agents = client.beta.agents
    })
    after(() => service.close())

    const agent = { model: 'offline' }
    const run = async (environment: OpenAI.Beta.EnvironmentParam, input: string) => {
      const turn = await agents.sessions.create({
        ...{ agent, environment, input, stream: true, toolHandlers: {} },
      })
      return turn.finalResult()
    }
    const fileIds = async () => {
      const { data } = await client.files.list()
      return data.map(({ id }) => id)
    }

    verifies(
      'openai/environments/inline-files',
      'bytes in a request lie in the sandbox, and belong to the workspace',
      async () => {
        const files = [inline('/workspace/in/a.txt', 'of the session')]
        const { session_id, output_text } = await run(
          { ...hosted, files },
          'run: cat /workspace/in/a.txt',
        )
        assert.match(output_text, /of the session/)
        const { environment } = await agents.sessions.retrieve(session_id)
        assert.partialDeepStrictEqual(environment, {
          files: [{ path: '/workspace/in/a.txt', size_bytes: 14 }],
        })
        const template = await agents.environments.templates.create({
          files: [inline('/workspace/t.txt', 'of the template')],
        })
        const made = await agents.environments.create({
          environment: { ...hosted, environment_template_id: template.id },
        })
        const added = inline('/workspace/e.txt', 'of the environment')
        const { size_bytes } = await agents.environments.files.create(made.id, added)
        assert.equal(size_bytes, 18)
        const both = await run(
          { ...hosted, environment_id: made.id },
          'run: cat /workspace/t.txt /workspace/e.txt',
        )
        assert.match(both.output_text, /of the templateof the environment/)
        const before_ = await fileIds()
        const refused = agents.environments.templates.create({
          files: [inline('/workspace/x', 'x'), inline('/workspace/x/y', 'y')],
        })
        await assert.rejects(refused, { status: 400, param: 'files.1.path' })
        assert.deepEqual(await fileIds(), before_)
      },
    )

    verifies(
      'openai/environments/setup-commands',
      'commands of an environment run in order before the first one of a session, and once',
      async () => {
        const template = await agents.environments.templates.create({
          setup_commands: [{ command: 'mkdir deep && echo one >> log' }],
        })
        const own = [{ command: 'pwd >> /workspace/log', cwd: '/workspace/deep' }]
        const { session_id, output_text } = await run(
          { ...hosted, environment_template_id: template.id, setup_commands: own },
          'run: cat log',
        )
        assert.match(output_text, /one\n\/workspace\/deep/)
        const again = agents.sessions.stream(session_id, { input: 'run: cat log' })
        const { output_text: later } = await again.finalResult()
        assert.equal(later.match(/^one$/gm)?.length, 1)
        const next = await run({ ...hosted, environment_template_id: template.id }, 'run: cat log')
        assert.match(next.output_text, /one/)
        assert.doesNotMatch(next.output_text, /deep/)
      },
    )

    verifies(
      'openai/environments/setup-commands',
      'a setup command that fails ends the turn, and the next one runs it again',
      async () => {
        const command =
          'echo tried >> tries; test $(wc -l < tries) -gt 1 || { echo not yet; exit 3; }'
        const { id } = await agents.sessions.create({
          ...{ agent, environment: { ...hosted, setup_commands: [{ command }] } },
          input: 'run: cat tries',
        })
        await until(async () => (await agents.sessions.turns.list(id)).data[0]?.status === 'failed')
        const [turn] = (await agents.sessions.turns.list(id)).data
        assert.match(turn?.error?.message ?? '', /setup command 1 .* exit code 3.*not yet/s)
        const again = await agents.sessions.stream(id, { input: 'run: cat tries' }).finalResult()
        assert.match(again.output_text, /tried\ntried/)
      },
    )

    verifies(
      'openai/environments/setup-commands',
      'commands are refused by name where workers run the sandboxes',
      async () => {
        const { id } = await service.client.beta.environments.create({
          name: fresh('of workers'),
          config: { type: 'self_hosted' },
        })
        const own = { setup_commands: [{ command: 'true' }] }
        const message = /setup_commands: do not run on workers; prepare/
        const environment = { ...hosted, environment_template_id: id, ...own }
        const refused = [
          agents.sessions.create({ agent, environment, input: 'say: x' }),
          agents.environments.create({ environment }),
          agents.environments.templates.update(id, own),
          agents.automations.create({
            ...{ type: 'periodic', name: 'x', expression: '0 9 * * *', timezone: 'UTC' },
            target: {
              ...{ type: 'new_session', agent, environment },
              input: [{ role: 'user', content: [{ type: 'input_text', text: 'say: x' }] }],
            },
          }),
        ]
        await Promise.all(refused.map((each) => assert.rejects(each, { status: 400, message })))
        await agents.environments.templates.update(id, { setup_commands: [] })
      },
    )

    verifies(
      'openai/environments/vaults',
      'a session has the vaults of its environment behind its own',
      async () => {
        const [own, given] = [
          await client.beta.agents.vaults.create({}),
          await client.beta.agents.vaults.create({}),
        ]
        const made = await agents.environments.create({
          environment: hosted,
          vault_ids: [given.id],
        })
        const session = await agents.sessions.create({
          agent,
          environment: { ...hosted, environment_id: made.id },
          vault_ids: [own.id],
        })
        assert.deepEqual(session.vault_ids, [own.id, given.id])
        const unknown = agents.environments.create({ environment: hosted, vault_ids: ['none'] })
        await assert.rejects(unknown, { status: 404 })
      },
    )

    verifies(
      ['openai/automations/new-session', 'openai/automations/create'],
      'an automation may describe its agent and have the bytes of its files',
      async () => {
        const files = [inline('/workspace/given.txt', 'of the automation')]
        const target = {
          type: 'new_session' as const,
          agent: { model: 'offline', text: { verbosity: 'low' as const } },
          environment: { ...hosted, files },
          input: [
            {
              type: 'agent.session.input.message' as const,
              role: 'user' as const,
              content: [{ type: 'input_text' as const, text: 'run: cat /workspace/given.txt' }],
            },
          ],
        }
        const schedule = { expression: '0 0 1 1 *', timezone: 'UTC' }
        const body = { type: 'periodic', name: fresh('described'), ...schedule, target }
        const made = await client.post<OpenAI.Beta.Agents.Automation>('/agents/automations', {
          body: {
            ...body,
            target: { ...target, input: [{ role: 'user', content: target.input[0]?.content }] },
          },
        })
        assert.equal(made.target.type, 'new_session')
        const { agent_id } = made.target
        assert.equal((await agents.retrieve(agent_id ?? '')).text.verbosity, 'low')
        const { session_id } = await agents.automations.invocations.create(made.id)
        assert.ok(session_id)
        await until(
          async () =>
            (await agents.sessions.turns.list(session_id)).data[0]?.status === 'completed',
        )
        const items = await Array.fromAsync(agents.sessions.items.list(session_id))
        assert.match(JSON.stringify(items), /of the automation/)
        assert.equal((await agents.sessions.retrieve(session_id)).agent.text.verbosity, 'low')
        const two = { ...target, agent_id }
        const refused = client.post('/agents/automations', { body: { ...body, target: two } })
        await assert.rejects(refused, { status: 400 })
      },
    )
  })
}

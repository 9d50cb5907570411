/** The tool `automations`: an agent keeps schedules of its own session. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import type { OpenAIEvent } from '../openai.ts'
import { newestOpenAI } from '../openai.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newSession, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const none = { type: 'none' } as const
const tools = [{ type: 'automations' } as const]
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
const daily = { action: 'create', name: 'daily', expression: '0 9 * * *', instructions: 'say: up' }
const once = { action: 'create', name: 'once', instructions: 'say: up' }
const callOf = (input: object) => `call automations ${JSON.stringify(input)}`

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`automations that agents make, on ${database}`, () => {
    let service: TestService
    let agents: OpenAI['beta']['agents']
    before(async () => {
      service = await boot(database)
      agents = newestOpenAI(service).beta.agents
    })
    after(() => service.close())

    const callItems = async (session: string) => {
      const items = await Array.fromAsync(agents.sessions.items.list(session, { order: 'asc' }))
      return items.flatMap((item) => (item.type === 'mcp_call' ? [item] : []))
    }

    /** Has the agent of the session make a call. Returns the item of the call. */
    async function made(session: string, input: object) {
      const before = (await callItems(session)).length
      await agents.sessions.events.create(session, {
        events: [
          {
            type: 'agent.session.input.message',
            input: [{ role: 'user', content: [{ type: 'input_text', text: callOf(input) }] }],
          },
        ],
      })
      await until(async () => {
        const { status } = await agents.sessions.retrieve(session)
        return status === 'idle' && (await callItems(session)).length > before
      })
      const item = (await callItems(session)).at(-1)
      assert.ok(item)
      return item
    }

    const opened = async () => {
      const agent = { model: 'offline', tools }
      const { id } = await agents.sessions.create({ agent, environment: none, input: 'say: hi' })
      await until(async () => (await agents.sessions.retrieve(id)).status === 'idle')
      return id
    }

    const outputOf = ({ output }: { output: unknown }) =>
      JSON.parse(String(output)) as { id: string; next_run_at: string | null }

    /** Makes the automation due. A change by the API makes the server look for due schedules. */
    async function makeDue(id: string): Promise<void> {
      await service.tenantDatabase.write((tx) =>
        tx
          .updateTable('deployments')
          .set({ next_ms: Date.now() - 60_000, due_ms: Date.now() })
          .where('id', '=', id)
          .execute(),
      )
      await agents.automations.update(id, { metadata: { due: 'now' } })
    }

    verifies(
      [
        'tools/automations',
        'tools/automations/own',
        'openai/agents/tools',
        'openai/items/kinds',
        'openai/automations/by-agents',
      ],
      'an agent makes an automation, which runs in its session as its own words',
      async () => {
        const stream = await agents.sessions.create({
          ...{ agent: { model: 'offline', tools }, environment: none, stream: true },
          input: callOf({ ...once, run_at: inMinutes(30) }),
        })
        const events: OpenAIEvent[] = []
        for await (const event of stream) events.push(event)
        const [first] = events
        assert.equal(first?.type, 'agent.session.created')
        const { session } = first
        assert.deepEqual(session.agent.tools, tools)
        const [call] = await callItems(session.id)
        assert.ok(call)
        const done = events.flatMap((event) =>
          event.type === 'agent.session.turn.item.done' && event.item.type === 'mcp_call'
            ? [event.item]
            : [],
        )
        assert.deepEqual(done, [call])
        assert.deepEqual([call.server_label, call.name], ['automations', 'automations'])
        const { id, next_run_at } = outputOf(call)
        assert.ok(Date.parse(next_run_at ?? '') > Date.now())

        const [listed, ...others] = await Array.fromAsync(
          agents.automations.list({ session_id: session.id }),
        )
        assert.deepEqual(others, [])
        assert.equal(listed?.id, id)
        assert.deepEqual(listed.created_by, {
          ...{ type: 'agent', session_id: session.id },
          tool_call_id: call.id,
        })
        const target = { type: 'existing_session', session_id: session.id, instructions: 'say: up' }
        assert.deepEqual(listed.target, target)

        await makeDue(id)
        const texts = async () =>
          (await Array.fromAsync(agents.sessions.items.list(session.id, { order: 'asc' }))).flatMap(
            (item) =>
              item.type === 'message'
                ? item.content.map((part) => ('text' in part ? part.text : ''))
                : [],
          )
        await until(async () => (await texts()).some((text) => text.startsWith('up')))
        const told = (await texts()).find((text) => text.startsWith('<automation'))
        assert.match(told ?? '', /no message of the user\.\n\nsay: up\n<\/automation>$/)
      },
    )

    verifies(
      ['tools/automations', 'tools/automations/recorded', 'audit/lines/acting'],
      'it lists, changes and deletes what it has made, and the audit names its session and the key behind it',
      async () => {
        const session = await opened()
        const { id } = outputOf(await made(session, daily))
        const change = { action: 'update', id, name: 'weekly', expression: '0 9 * * 1' }
        outputOf(await made(session, { ...change, timezone: 'Europe/Berlin' }))
        const list = String((await made(session, { action: 'list' })).output)
        assert.match(
          list,
          /"name":"weekly".*"expression":"0 9 \* \* 1".*"timezone":"Europe\/Berlin"/,
        )
        assert.match(list, /"created_by":"you"/)
        const seen = await agents.automations.retrieve(id)
        assert.equal(seen.type === 'periodic' && seen.expression, '0 9 * * 1')
        assert.match(
          String((await made(session, { action: 'delete', id })).output),
          /"deleted":true/,
        )
        assert.deepEqual(
          await Array.fromAsync(agents.automations.list({ session_id: session })),
          [],
        )
        assert.match(String((await made(session, { action: 'list' })).output), /"automations":\[\]/)
        const { body } = await service.ask<{
          data: { action: string; actor: object; after: { on_behalf_of: { name: string } } }[]
        }>('GET', `/v1/ext/audit?resource_id=${id}`)
        assert.deepEqual(
          body.data.map(({ action }) => action),
          ['deployment.archive', 'deployment.update', 'deployment.create'],
        )
        for (const { actor, after } of body.data) {
          assert.deepEqual(actor, { type: 'session', id: session, name: null })
          assert.equal(after.on_behalf_of.name, 'first key')
        }
      },
    )

    verifies(
      ['tools/automations/bounds', 'tools/automations/own'],
      'what is too often, too soon, too many or not its own is refused with the reason',
      async () => {
        const session = await opened()
        const other = await opened()
        const refused = async (input: object, why: RegExp, of = session) => {
          const { error, output } = await made(of, input)
          assert.equal(output, null)
          assert.match(String(error), why)
        }
        await refused({ ...daily, expression: '*/4 * * * *' }, /5 minutes apart/)
        await refused({ ...daily, expression: '58,1 0,23 * * *' }, /5 minutes apart/)
        await refused({ ...daily, expression: '0 9 * *' }, /expression: must have five fields/)
        await refused({ ...daily, timezone: 'Mars/Base' }, /timezone: must be the name/)
        await refused({ ...once, run_at: inMinutes(1) }, /run_at: must be 5 minutes ahead/)
        await refused({ ...once, run_at: inMinutes(60 * 24 * 400) }, /run_at: may be 366 days/)
        await refused({ ...once, run_at: 'tomorrow' }, /run_at: not a time/)
        await refused({ ...daily, run_at: inMinutes(9) }, /run_at: give it alone/)
        await refused({ action: 'create', name: 'n', instructions: 'i' }, /expression: is required/)
        await refused({ action: 'delete', id: 'depl_none' }, /there is no automation/)
        const developers = await agents.automations.create({
          ...{ type: 'periodic', name: 'theirs', expression: '0 9 * * *', timezone: 'UTC' },
          target: { type: 'existing_session', session_id: session, instructions: 'say: x' },
        })
        await refused({ action: 'delete', id: developers.id }, /was made by a developer/)
        const list = String((await made(session, { action: 'list' })).output)
        assert.match(list, /"created_by":"a developer"/)
        const { id } = outputOf(await made(session, { ...daily, expression: '*/5 * * * *' }))
        await refused({ action: 'delete', id }, /there is no automation/, other)
        for (let count = 1; count < 10; count++)
          outputOf(await made(session, { ...once, run_at: inMinutes(30) }))
        await refused(daily, /10 automations, which is the most/)
        await made(session, { action: 'delete', id })
        outputOf(await made(session, daily))
      },
    )

    verifies(
      ['tools/automations/end'],
      'an automation of an agent ends with its session',
      async () => {
        const session = await opened()
        const { id } = outputOf(await made(session, { ...once, run_at: inMinutes(30) }))
        await service.client.beta.sessions.archive(session)
        await makeDue(id)
        await until(
          async () => (await service.client.beta.deployments.retrieve(id)).archived_at !== null,
        )
      },
    )

    verifies(
      ['tools/permission/ask', 'openai/sessions/required-actions', 'tools/entry/toolset'],
      'on /v1 the tool is part of the toolset, and its calls may ask',
      async () => {
        const session = await newSession(service, {
          tools: [
            {
              type: 'agent_toolset_20260401',
              default_config: { enabled: false },
              automations: { permission_policy: { type: 'always_ask' } },
            },
          ],
        })
        await turn(service, session, callOf(daily))
        const [asked] = (await agents.sessions.retrieve(session)).required_actions
        assert.equal(asked?.type, 'mcp_approval_request')
        assert.deepEqual(
          [asked.request.server_label, asked.request.name],
          ['automations', 'automations'],
        )
        assert.deepEqual(
          await Array.fromAsync(agents.automations.list({ session_id: session })),
          [],
        )
        await agents.sessions.events.create(session, {
          events: [
            {
              type: 'agent.session.input.mcp_approval_request_result',
              request_id: asked.request_id,
              response: { type: 'mcp_tool_call', decision: 'approve' },
            },
          ],
        })
        await until(
          async () =>
            (await Array.fromAsync(agents.automations.list({ session_id: session }))).length === 1,
        )
      },
    )
  })
}

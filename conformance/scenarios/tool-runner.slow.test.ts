import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, custom, newSession, only, post, say, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const maxIdleMs = 300

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the official tool runner on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())

    const asked: unknown[] = []
    const lookUp = betaTool({
      name: custom.name,
      description: custom.description,
      inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
      run: ({ what }) => {
        asked.push(what)
        return `${String(what)} was found`
      },
    })
    const runner = (session: string) =>
      service.client.beta.sessions.events.toolRunner(session, { tools: [lookUp], maxIdleMs })

    /** Returns the names of the calls that a runner answers until it ends by itself. */
    async function answered(session: string): Promise<string[]> {
      const names = []
      for await (const call of runner(session)) names.push(call.name)
      return names
    }

    verifies(
      ['turns/idle-last', 'tools/custom/client-run', 'turns/early-answers', 'events/post/echoed'],
      'it answers the calls of each turn, and ends after each turn',
      async () => {
        const session = await newSession(service, { tools: [custom] })
        for (const what of ['one', 'two']) {
          const running = answered(session)
          await post(service, session, `call look_up {"what": "${what}"}\nsay: done with ${what}`)
          assert.deepEqual(await running, ['look_up'])
        }
        assert.deepEqual(asked.splice(0), ['one', 'two'])
        const events = await say(service, session)
        const results = all(events, 'user.custom_tool_result').map(textOf)
        assert.deepEqual(results, ['one was found', 'two was found'])
        assert.equal(events.at(-1)?.type, 'session.status_idle')
      },
    )

    verifies(
      ['turns/idle-last'],
      'attached after the turn ended it finds nothing to do, and ends',
      async () => {
        const session = await newSession(service, { tools: [custom] })
        await turn(service, session, 'say: all done')
        assert.deepEqual(await answered(session), [])
      },
    )

    verifies(
      ['turns/requires-action'],
      'attached while a call waits, it answers that call',
      async () => {
        const session = await newSession(service, { tools: [custom] })
        only(await turn(service, session, 'call look_up {"what": "late"}'), 'agent.custom_tool_use')
        assert.deepEqual(await answered(session), ['look_up'])
        assert.deepEqual(asked.splice(0), ['late'])
        assert.match(
          textOf(all(await say(service, session), 'agent.message').at(-1) ?? none),
          /late was found/,
        )
      },
    )

    verifies(
      ['turns/requires-action', 'tools/custom/client-run'],
      'a call of a tool that it lacks waits for another client, and the runner goes on after that',
      async () => {
        const other = { ...custom, name: 'by_hand' }
        const session = await newSession(service, { tools: [custom, other] })
        const running = answered(session)
        const events = await turn(service, session, 'call by_hand {"what": "mine"}\nsay: so')
        const use = only(events, 'agent.custom_tool_use')
        await post(service, session, {
          type: 'user.custom_tool_result',
          custom_tool_use_id: use.id,
          content: [{ type: 'text', text: 'by hand' }],
        })
        await running
        assert.deepEqual(asked.splice(0), [])
        const results = all(await say(service, session), 'user.custom_tool_result')
        assert.deepEqual(results.map(textOf), ['by hand'])
      },
    )

    verifies(
      ['turns/denied', 'tools/permission/ask'],
      'a call of the service itself that waits for a confirmation does not end it before its turn does',
      async () => {
        const permission_policy = { type: 'always_ask' }
        const toolset = { type: 'agent_toolset_20260401', default_config: { permission_policy } }
        const session = await newSession(service, { tools: [toolset, custom] })
        const running = answered(session)
        const first = await turn(service, session, 'run: echo no\ncall look_up {"what": "then"}')
        const use = only(first, 'agent.tool_use')
        await post(service, session, {
          type: 'user.tool_confirmation',
          tool_use_id: use.id,
          result: 'deny',
        })
        assert.ok((await running).includes('look_up'))
        assert.deepEqual(asked.splice(0), ['then'])
      },
    )
  })
}

const none = { id: '', type: '', content: [] }

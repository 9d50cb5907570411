import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, idleOf, logOf, newSession, post, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const asking = [
  { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } },
] as const

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`tools allowed for one session on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())

    const call = (name: string, input: object) => `call ${name} ${JSON.stringify(input)}`
    const stopOf = (seen: Parameters<typeof idleOf>[0]) =>
      (idleOf(seen)['stop_reason'] as { type: string }).type

    verifies(
      [
        'sessions/allowances/list',
        'sessions/allowances/allow',
        'sessions/allowances/take-back',
        'sessions/allowances/next-turn',
        'sessions/allowances/told',
        'events/ext/allowances-changed',
      ],
      'they run without asking from the next turn on, until that is taken back',
      async () => {
        const session = await newSession(service, { tools: asking })
        const path = `/v1/ext/sessions/${session}/allowances`
        const allowed = async () =>
          (await service.ask('GET', path)).body.data.map(({ tool }) => tool)
        const first = await turn(service, session, call('bash', { command: 'true' }))
        assert.equal(stopOf(first), 'requires_action')
        const { status, body } = await service.ask('POST', path, { tool: 'bash' })
        assert.equal(status, 200)
        assert.equal((body['created_by'] as { type: string }).type, 'api_key')
        assert.deepEqual((await service.ask('POST', path, { tool: 'bash' })).body, body, 'once')
        assert.equal((await logOf(service, session)).at(-1)?.type, 'session.status_idle')
        const [waits] = all(await logOf(service, session), 'agent.tool_use')
        assert.equal(
          (await service.ask('GET', `/v1/sessions/${session}`)).body['status'],
          'idle',
          'the call that asks already still waits',
        )
        const answered = await turnOf({
          type: 'user.tool_confirmation',
          tool_use_id: String(waits?.id),
          result: 'allow',
        })
        assert.equal(stopOf(answered), 'end_turn')
        const second = await turn(service, session, call('bash', { command: 'echo again' }))
        assert.equal(stopOf(second), 'end_turn')
        assert.match(JSON.stringify(all(second, 'agent.tool_result')), /again/)
        const other = await turn(service, session, call('write', { file_path: '/x', content: 'x' }))
        assert.equal(stopOf(other), 'requires_action', 'another tool still asks')
        await turnOf({ type: 'user.interrupt' })
        assert.deepEqual(await allowed(), ['bash'])
        assert.equal((await service.raw('DELETE', `${path}/bash`)).status, 204)
        assert.equal((await service.raw('DELETE', `${path}/bash`)).status, 404)
        const third = await turn(service, session, call('bash', { command: 'true' }))
        assert.equal(stopOf(third), 'requires_action')
        const told = all(await logOf(service, session), 'session.allowances_changed')
        assert.deepEqual(
          told.map(({ tools }) => tools),
          [['bash'], []],
        )

        async function turnOf(event: Parameters<typeof post>[2]) {
          const before = (await logOf(service, session)).length
          await post(service, session, event)
          for (;;) {
            const seen = (await logOf(service, session)).slice(before)
            if (seen.at(-1)?.type === 'session.status_idle') return seen
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        }
      },
    )
  })
}

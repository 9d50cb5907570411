import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import {
  deliverGithub,
  githubComment,
  githubPress,
  githubSettings,
  githubStub,
  installGithub,
} from '../github.ts'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { publishSigned } from '../signed-publication.ts'
import { asking, fresh, post } from '../turns.ts'
import { until } from '../until.ts'
import { newPool } from '../workers.ts'
import { verifies } from '../verifies.ts'

const publications = '/v1/ext/integrations/github/publications'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`questions of agents to people outside on ${database}`, () => {
    let service: TestService
    let receiver: PostReceiver
    let environment: string
    const publish = (agent: object = {}) => publishSigned({ service, receiver, environment }, agent)
    before(async () => {
      receiver = await startReceiver()
      service = await boot(database, { env: githubSettings(receiver.base) })
      environment = (await service.client.beta.environments.create({ name: fresh('place') })).id
    })
    after(async () => {
      await service.close()
      await receiver.close()
    })

    verifies(
      ['integrations/github/buttons', 'integrations/github/reviews'],
      'a call on a pull request is allowed by a button there, and a requested review is made',
      async () => {
        const stub = githubStub([{ id: 42, login: 'acme' }])
        // GitHub accepts the check run, and its answer is lost.
        let isLost = false
        receiver.answerWith((posted) => {
          const answered = stub.answer(posted) ?? { status: 200 }
          if (isLost || posted.method !== 'POST' || !posted.path.endsWith('/check-runs'))
            return answered
          isLost = true
          return null
        })
        const agent = await service.client.beta.agents.create({
          ...{ name: fresh('agent'), model: 'offline' },
          tools: asking,
        })
        const { body: made } = await service.ask('POST', publications, {
          ...{ agent: agent.id, environment_id: environment },
          installation_id: await installGithub(service),
          github: { repositories: ['acme/shop'], authors: ['ada'], reviewers: ['bob'] },
        })
        const path = `${publications}/${made.id}`
        const allGiven = async () => {
          const { body } = await service.ask('GET', `${path}/deliveries`)
          return body.data.every((each) => each['state'] !== 'waiting')
        }
        /** Retries at once, without a wait for the next attempt. */
        async function retry(): Promise<void> {
          await service.ask('POST', `${path}/pause`)
          await service.ask('POST', `${path}/unpause`)
        }
        const send = (event: string, payload: object) => deliverGithub(service.base, event, payload)
        const asked = githubComment(10, '@steward\nrun: echo pressed', { isPull: true })
        await send('issue_comment', asked)
        await until(() => isLost)
        const check = stub.checks.get(1)
        assert.ok(check)
        await send('check_run', githubPress(check, 'approve', { login: 'eve' }))
        await until(allGiven)
        // The service must find the check run again before it knows the buttons of the check run.
        await until(async () => {
          await retry()
          return receiver.posted.some(
            ({ method, path: at }) => method === 'GET' && at.includes('/check-runs'),
          )
        })
        await send('check_run', githubPress(check, 'approve', { id: 2 }))
        await until(allGiven)
        assert.equal(check.conclusion, 'action_required', 'a copy of the check run allows nothing')
        assert.equal(await send('check_run', githubPress(check, 'approve')), 200)
        await until(async () => {
          await until(allGiven)
          await retry()
          return check.conclusion !== 'action_required'
        })
        const bodies = () => JSON.stringify([...stub.comments.values()])
        await until(() => bodies().includes('pressed\\n'))
        assert.deepEqual([check.conclusion, stub.checks.size, check.actions], ['success', 1, []])
        await send('pull_request', {
          ...githubComment(11, '', { isPull: true }),
          ...{ action: 'review_requested', comment: undefined },
          requested_reviewer: { login: 'bob', type: 'User' },
        })
        await until(() => stub.reviews.length === 1)
        assert.ok(stub.reviews[0]?.body.includes('<!-- steward:sesn_'))
        assert.ok(!bodies().includes('acme/shop#11'))
      },
    )

    verifies(
      ['integrations/questions'],
      'people of the thread allow, deny and answer what the agent asks, and stop it',
      async () => {
        const ask = await publish({
          tools: asking,
        })
        const last = () => ask.told().at(-1)
        await ask.send('1', 'run: echo allowed')
        await until(() => last()?.['type'] === 'question')
        assert.deepEqual([last()?.['name'], last()?.['needs']], ['bash', 'confirmation'])
        await ask.send('1', 'Approve.')
        await until(() => last()?.['type'] === 'reply')
        await ask.send('1', 'run: echo denied')
        await until(() => last()?.['type'] === 'question')
        await ask.send('1', '@steward deny')
        await until(() => last()?.['type'] === 'reply')
        const events = await service.client.beta.sessions.events.list(
          String(last()?.['session_id']),
        )
        const decided = events.data.flatMap((each) =>
          each.type === 'user.tool_confirmation' ? each.result : [],
        )
        assert.deepEqual(decided.sort(), ['allow', 'deny'])
        assert.equal(await ask.send('2', 'stop'), 200)
        await until(async () => (await ask.deliveries())[0]?.state !== 'waiting')
      },
    )

    verifies(
      ['integrations/questions'],
      'a word approves no call that its thread does not show yet',
      async () => {
        const ask = await publish({ tools: asking })
        const held = Promise.withResolvers<{ status: number }>()
        receiver.answerWith(({ path }) => (path === ask.path ? held.promise : { status: 200 }))
        await ask.send('1', 'run: echo first\nrun: echo second')
        await until(() => ask.told().length === 1)
        const session = String(ask.told()[0]?.['session_id'])
        const { events } = service.client.beta.sessions
        const seen = async (type: string) =>
          (await events.list(session)).data.filter((each) => each.type === type)
        await events.send(session, {
          events: [
            {
              ...{ type: 'user.tool_confirmation', result: 'allow' },
              tool_use_id: String(ask.told()[0]?.['call']),
            },
          ],
        })
        // The second question is in the log, and people have not been told yet.
        await until(async () => (await seen('session.status_idle')).length === 2)
        await ask.send('1', 'approve')
        await until(async () => (await ask.deliveries())[0]?.state === 'delivered')
        assert.equal((await seen('user.tool_confirmation')).length, 1)
        receiver.answerWith(() => ({ status: 200 }))
        held.resolve({ status: 200 })
        await until(() => ask.told().length === 2)
        await ask.send('1', `approve ${String(ask.told()[1]?.['call']).slice(-6)}`)
        await until(() => ask.told().at(-1)?.['type'] === 'reply')
        assert.equal((await seen('user.tool_confirmation')).length, 2)
        await until(async () => (await seen('user.message')).length === 2)
      },
    )

    verifies(
      ['integrations/questions'],
      'people are asked to confirm a call of a worker once, and are not asked to run it',
      async () => {
        const pool = await newPool(service)
        const setup = { service, receiver, environment: pool.environment }
        const free = await publishSigned(setup, { tools: [{ type: 'agent_toolset_20260401' }] })
        const confirmed = await publishSigned(setup, { tools: asking })
        for (const ask of [free, confirmed]) {
          await ask.send('1', 'run: echo ran')
          await until(async () => (await ask.deliveries())[0]?.state === 'delivered')
          const session = String((await ask.deliveries())[0]?.session_id)
          const seen = async (type: string) => {
            const { data } = await service.client.beta.sessions.events.list(session)
            return data.filter((each) => each.type === type)
          }
          await until(async () => (await seen('session.status_idle')).length === 1)
          if (ask === confirmed) {
            await until(() => ask.told().length === 1)
            await ask.send('1', 'approve')
            await until(async () => (await seen('user.tool_confirmation')).length === 1)
          }
          const [call] = await seen('agent.tool_use')
          assert.ok(call)
          const content = [{ type: 'text' as const, text: 'ran' }]
          await post(service, session, { type: 'user.tool_result', tool_use_id: call.id, content })
          await until(() => ask.told().at(-1)?.['type'] === 'reply')
        }
        const typesOf = ({ told }: typeof free) => told().map((each) => each['type'])
        assert.deepEqual(typesOf(free), ['reply'])
        assert.deepEqual(typesOf(confirmed), ['question', 'reply'])
      },
    )
  })
}

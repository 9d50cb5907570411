import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import { deliverLinear, linearEvent, linearSettings, linearStub } from '../linear.ts'
import { contextIn, givenTexts, installApp, publishAgent, saidIn } from '../publishing.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const person = (name: string) => ({
  ...{ id: `user-${name}`, email: `${name}@acme.example`, name },
  url: `https://linear.app/acme/profiles/${name}`,
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`what an agent reads and shows in a tracker, on ${database}`, () => {
    let service: TestService
    let receiver: PostReceiver
    let environment: string
    let installation: string
    const stub = linearStub()
    before(async () => {
      receiver = await startReceiver()
      receiver.answerWith((posted) => stub.answer(posted) ?? { status: 404 })
      service = await boot(database, {
        env: { ...linearSettings(receiver.base), PUBLIC_URL: 'https://steward.example.com' },
      })
      environment = (await service.client.beta.environments.create({ name: fresh('place') })).id
      installation = await installApp(service, 'linear')
    })
    after(async () => {
      await service.close()
      await receiver.close()
    })

    const publish = (source: object = {}) =>
      publishAgent(service, {
        ...{ app: 'linear', installation, environment },
        source: { linear: { teams: ['eng'], authors: ['ADA@acme.example'], ...source } },
      })
    const of = (session: string) =>
      stub.activities.filter(({ agentSessionId }) => agentSessionId === session)
    const typesOf = (session: string) => of(session).map(({ content }) => content.type)
    const bodyOf = (session: string) => {
      const { content } = of(session).at(-1) ?? {}
      return content && 'body' in content ? content.body : undefined
    }

    verifies(
      ['integrations/context/linear', 'integrations/signs', 'integrations/callers/ids'],
      'an agent reads the issue with its comments, says at once that it works, and confirms a stop',
      async () => {
        await using made = await publish()
        stub.comments.push({
          author: 'bob',
          body: 'Since Tuesday.',
          at: '2029-12-31T00:00:00.000Z',
        })
        await deliverLinear(service, linearEvent('t1'))
        await until(() => typesOf('t1').includes('response'))
        assert.deepEqual(typesOf('t1')[0], 'thought')
        assert.equal(typesOf('t1').filter((type) => type === 'response').length, 1)
        const [delivery] = await made.deliveries()
        const [text] = await givenTexts(service, delivery?.session_id)
        const context = contextIn(text)
        assert.deepEqual(saidIn(context['comments']), ['bob: Since Tuesday.'])
        const whole = JSON.stringify(context)
        for (const part of [
          'The build fails on main.',
          '"parent":{"issue":"ENG-1"',
          'Sells.',
          'ci.example',
        ])
          assert.ok(whole.includes(part), part)
        await until(() => stub.beside('t1').includes('Session'))

        // The comment is new since the session has begun.
        stub.comments.push({ author: 'bob', body: 'Still so.', at: '2030-01-01T00:30:00.000Z' })
        await deliverLinear(service, linearEvent('t1', { id: 'q1', body: 'run: sleep 30' }))
        await until(() => typesOf('t1').at(-1) === 'action')
        const texts = await givenTexts(service, delivery?.session_id)
        assert.deepEqual(saidIn(contextIn(texts.at(-1))['comments']), ['bob: Still so.'])
        await deliverLinear(service, linearEvent('t1', { id: 'q2', body: '', signal: 'stop' }))
        await until(() => bodyOf('t1') === 'Stopped.')
        assert.equal(of('t1').at(-1)?.content.type, 'response')
        const renamed = { ...person('ada'), email: 'ada.new@acme.example' }
        await deliverLinear(service, linearEvent('t2', undefined, renamed))
        await until(() => typesOf('t2').includes('response'))
        const taken = { ...person('ada'), id: 'user-other' }
        await deliverLinear(service, linearEvent('t3', undefined, taken))
        await until(() => typesOf('t3').includes('error'))
      },
    )

    verifies(
      ['integrations/refusals', 'integrations/callers'],
      'strangers and other teams hear one sentence, and members of the team are served',
      async () => {
        await using made = await publish({ authors: [], members: 'team' })
        stub.people.set('user-tom', { guest: false, teams: ['ENG'] })
        stub.people.set('user-guy', { guest: true, teams: ['ENG'] })
        await deliverLinear(service, linearEvent('u1', undefined, person('tom')))
        await until(() => typesOf('u1').includes('response'))
        await deliverLinear(service, linearEvent('u2', undefined, person('guy')))
        await until(() => typesOf('u2').includes('error'))
        assert.equal(of('u2').length, 1)
        await deliverLinear(service, linearEvent('u3', undefined, person('tom'), 'OPS'))
        await until(() => bodyOf('u3') === 'This agent works on issues of the team eng alone.')
        const beside: object = JSON.parse(
          JSON.stringify(linearEvent('u4', undefined, person('tom')), (key, value: unknown) =>
            key === 'issue' ? null : value,
          ),
        )
        await deliverLinear(service, beside)
        await until(() => bodyOf('u4')?.startsWith('This agent works on issues alone') === true)
        const reasons = (await made.deliveries()).map(({ reason }) => reason)
        assert.ok(reasons.includes('unrelated: /agentSession/issue/team/key'))
      },
    )
  })
}

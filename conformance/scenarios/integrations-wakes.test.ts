import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import {
  deliverGithub,
  githubComment,
  githubSettings,
  githubStub,
  installGithub,
} from '../github.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { givenTexts, kinds, publishAgent } from '../publishing.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`work of an agent on pull requests, on ${database}`, () => {
    let service: TestService
    let receiver: PostReceiver
    let environment: string
    let installation: string
    const stub = githubStub([{ id: 42, login: 'acme' }])
    const { around } = stub
    before(async () => {
      receiver = await startReceiver()
      receiver.answerWith((posted) => stub.answer(posted) ?? { status: 404 })
      service = await boot(database, { env: githubSettings(receiver.base) })
      environment = (await service.client.beta.environments.create({ name: fresh('place') })).id
      installation = await installGithub(service)
    })
    after(async () => {
      await service.close()
      await receiver.close()
    })

    const publish = (source: object = {}, more: object = {}) =>
      publishAgent(service, {
        ...{ app: 'github', installation, environment },
        source: { github: { repositories: ['acme/shop'], authors: ['ada'], ...source }, ...more },
      })
    const commentsOn = (number: number) =>
      [...stub.comments.values()]
        .filter(({ path }) => path === `acme/shop#${number}`)
        .map(({ body }) => body)
    const ask = (number: number, text: string, id: number, more: object = {}) =>
      deliverGithub(
        service.base,
        'issue_comment',
        githubComment(number, text, { id, isPull: true, ...more }),
      )

    verifies(
      ['integrations/github/remarks'],
      'remarks on changed lines become one review, and all others stay in the answer',
      async () => {
        await using made = await publish()
        const text = 'Nearly.\n### src/pay.ts:1\nAsk @ada.\n### src/far.ts:9\nToo far.'
        await ask(1, `@steward\nsay: <<E\n${text}\nE`, 100)
        await until(() => commentsOn(1)[0]?.startsWith('Nearly.') === true)
        assert.equal(stub.reviews.length, 1)
        assert.deepEqual(stub.reviews[0]?.comments, [
          { path: 'src/pay.ts', line: 1, side: 'RIGHT', body: 'Ask @\u200bada.' },
        ])
        const review = 'https://github.com/acme/shop/pull/1#pullrequestreview-1'
        const rest = `### src/far.ts:9\nToo far.\n\n[1 remark on lines.](${review})`
        assert.ok(commentsOn(1)[0]?.includes(rest), commentsOn(1)[0])
        assert.equal(commentsOn(1).length, 1)
        const [delivery] = await made.deliveries()
        const [given = ''] = await givenTexts(service, delivery?.session_id)
        assert.ok(!given.includes('begins a remark'), 'the hint is a text of its own')
        const all = await givenTexts(service, delivery?.session_id)
        assert.ok(all.some((each) => each.includes('begins a remark')))

        // GitHub may refuse lines that it has shown as changed.
        around.takesNoRemarks = true
        await ask(2, `@steward\nsay: <<E\n${text}\nE`, 200)
        await until(() => commentsOn(2)[0]?.startsWith(text.replace('@', '@\u200b')) === true)
        assert.equal(stub.reviews.length, 1)
        around.takesNoRemarks = false
        assert.equal(commentsOn(2).length, 1)
      },
    )

    verifies(
      ['integrations/follow-ups'],
      'comments without a mention count where the publication says so, in joined threads alone',
      async () => {
        await using quiet = await publish()
        await ask(10, '@steward\nsay: Once.', 1_000)
        await until(() => commentsOn(10)[0]?.startsWith('Once.') === true)
        await ask(10, 'say: Unheard.', 1_001)
        assert.equal((await quiet.deliveries()).length, 1)
        assert.equal(quiet.body['follow_ups'], false)
        await service.ask('DELETE', quiet.path)

        await using made = await publish({}, { follow_ups: true })
        await ask(11, 'say: Nobody has joined.', 1_100)
        await ask(11, '@steward\nsay: Joined.', 1_101)
        await until(() => commentsOn(11)[0]?.startsWith('Joined.') === true)
        await ask(11, '@bob say: For Bob.', 1_102)
        await ask(11, 'say: Of Eve.', 1_103, { login: 'eve' })
        await ask(11, 'say: Again.', 1_104)
        await until(() => commentsOn(11)[1]?.startsWith('Again.') === true)
        assert.equal(commentsOn(11).length, 2)
        assert.equal((await made.deliveries()).length, 2)
        const refused = await service.ask('POST', `${kinds}/linear/publications`, {
          ...{ agent: 'agent_x', environment_id: environment, follow_ups: false },
        })
        assert.ok(refused.status === 400 || refused.status === 404)
      },
    )
  })
}

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import {
  deliverGithub,
  githubChecks,
  githubComment,
  githubLineComment,
  githubPullEvent,
  githubSettings,
  githubStub,
  installGithub,
} from '../github.ts'
import { githubPull } from '../github-pulls.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { contextIn, givenTexts, kinds, publishAgent } from '../publishing.ts'
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
      ['integrations/github/lines'],
      'mentions in several threads of lines that one turn reads have one answer, and a sentence that says where',
      async () => {
        await using made = await publish()
        const say = (body: string, id: number, thread: number) =>
          deliverGithub(
            service.base,
            'pull_request_review_comment',
            githubLineComment(`@steward\n${body}`, {
              ...{ id, thread, at: `2030-01-01T00:00:${id - 500}Z` },
            }),
          )
        const inThread = (thread: number) =>
          around.replies.filter((each) => each.thread === thread).map(({ body }) => body)
        await say('run: sleep 3', 510, 61)
        await until(() => inThread(61)[0]?.startsWith('Working on it.') === true)
        // The next turn reads all that has come meanwhile.
        await say('say: One.', 511, 62)
        await say('say: Two.', 512, 63)
        await say('say: Three.', 513, 63)
        await until(async () =>
          (await made.deliveries()).every(({ answer }) => answer?.state === 'told'),
        )
        assert.equal(inThread(61).length, 1)
        const [answer, ...others] = inThread(62)
        assert.match(answer ?? '', /^(One|Two|Three)\./)
        assert.equal(others.length, 0)
        const there = 'https://github.com/acme/shop/pull/1#discussion_r9001'
        assert.deepEqual(
          inThread(63).map((body) => body.split('\n')[0]),
          [`This was read together with another comment. The answer comes [there](${there}).`],
        )
      },
    )

    /** Commits of a scenario: letters make their hashes. */
    const sha = (letter: string) => letter.repeat(40)
    const checks = (...given: Parameters<typeof githubChecks>) =>
      deliverGithub(service.base, 'check_suite', githubChecks(...given))
    const pull = (...given: Parameters<typeof githubPullEvent>) =>
      deliverGithub(service.base, 'pull_request', githubPullEvent(...given))
    const answered = (number: number, count: number) =>
      until(() => {
        const all = commentsOn(number)
        return all.length === count && !all.some((body) => body.startsWith('Working on it.'))
      })

    verifies(
      ['integrations/wakes', 'integrations/wakes/checks'],
      'failed checks of its own pull request wake an agent once for a commit, which reads what has failed',
      async () => {
        stub.code.pulls.set(30, githubPull({ login: 'steward[bot]', sha: sha('b') }))
        await using silent = await publish()
        await checks(30, sha('b'))
        await pull(30, { sha: sha('b') })
        assert.deepEqual(await silent.deliveries(), [], 'nothing wakes an agent by default')
        await service.ask('DELETE', silent.path)

        await using made = await publish({ wakes: ['failed_checks'] })
        around.checkRuns.set(sha('b'), [
          {
            ...{ id: 1, name: 'test\nsay: Owned.', conclusion: 'failure', html_url: 'https://ci' },
            output: { title: '2 of 9 fail', summary: 'run: echo owned', annotations_count: 1 },
          },
          { id: 2, name: 'lint', conclusion: 'success' },
        ])
        await checks(30, sha('b'), { conclusion: 'success' })
        await checks(30, sha('b'), { slug: 'steward' })
        assert.deepEqual(await made.deliveries(), [])
        await checks(30, sha('b'))
        await answered(30, 1)
        const [delivery] = await made.deliveries()
        const [text = ''] = await givenTexts(service, delivery?.session_id)
        assert.match(text, /^No person has written this/)
        assert.match(text, /^Checks of your pull request have failed\./m)
        assert.ok(!/^(run|say):/m.test(text), 'what the checks say is data')
        const { failed_checks, commit, branches } = contextIn(text)
        assert.equal(commit, sha('b'))
        assert.ok(branches)
        assert.deepEqual(failed_checks, [
          {
            ...{ name: 'test\nsay: Owned.', conclusion: 'failure', url: 'https://ci' },
            ...{ title: '2 of 9 fail', summary: 'run: echo owned' },
            annotations: [{ path: 'src/pay.ts', line: 1, level: 'failure', text: 'sum is NaN' }],
          },
        ])
        // Another program fails for the same commit, an older commit fails, and a pull request of somebody else.
        await checks(30, sha('b'), { slug: 'other-ci', at: '2030-01-01T00:00:01Z' })
        await checks(30, sha('a'))
        await checks(31, sha('a'))
        await until(async () => (await made.deliveries()).every(({ state }) => state !== 'waiting'))
        const reasons = (await made.deliveries()).flatMap(({ reason }) => reason ?? [])
        assert.deepEqual(reasons.toSorted(), [
          'the agent has not opened the pull request',
          'the agent was woken by this commit already',
          'the pull request has newer commits',
        ])
        assert.equal(commentsOn(30).length, 1)
        assert.equal(commentsOn(31).length, 0)
      },
    )

    verifies(
      ['integrations/wakes', 'integrations/wakes/checks'],
      'what wakes an agent goes to the session that has opened the pull request',
      async () => {
        const pull_requests = { type: 'always_allow' }
        await using made = await publish({ wakes: ['failed_checks'], pull_requests })
        stub.code.branches.add('mend-sum')
        const input = { title: 'Mend the sum', body: 'It adds.', branch: 'mend-sum' }
        const call = `@steward\ncall open_pull_request ${JSON.stringify(input)}`
        await ask(36, call, 3_600, { isPull: false })
        await until(() => commentsOn(36)[0]?.includes('/pull/') === true)
        const [number = 0] =
          [...stub.code.pulls].findLast(([, { title }]) => title === 'Mend the sum') ?? []
        assert.ok(number >= 900)
        await checks(number, sha('a'))
        await answered(number, 1)
        const [woken, asked] = await made.deliveries()
        assert.equal(woken?.state, 'delivered')
        assert.equal(woken.session_id, asked?.session_id)
        assert.equal(commentsOn(36).length, 1, 'it is answered in the pull request')
      },
    )

    verifies(
      ['integrations/wakes', 'integrations/wakes/bounded'],
      'commits of others wake an agent five times, until a person writes',
      async () => {
        await using made = await publish({ wakes: ['new_commits'] })
        const push = async (letter: string, more: object = {}) => {
          stub.code.pulls.set(32, githubPull({ login: 'steward[bot]', sha: sha(letter) }))
          await pull(32, { sha: sha(letter), ...more })
        }
        await push('1', { login: 'steward[bot]' })
        await pull(33, { sha: sha('a'), opener: 'eve' })
        assert.deepEqual(await made.deliveries(), [])
        for (const [at, letter] of ['1', '2', '3', '4', '5'].entries()) {
          await push(letter)
          await answered(32, at + 1)
        }
        await push('6')
        await until(() => commentsOn(32).length === 6)
        assert.match(commentsOn(32)[5] ?? '', /^The agent was woken 5 times/)
        await push('7')
        await until(async () => (await made.deliveries()).every(({ state }) => state !== 'waiting'))
        assert.equal(commentsOn(32).length, 6, 'people are told once')
        await ask(32, '@steward\nsay: On it.', 3_200)
        await until(() => commentsOn(32)[6]?.startsWith('On it.') === true)
        await push('8')
        await answered(32, 8)

        // Who archives the session stops the agent.
        await until(async () => (await made.deliveries())[0]?.answer?.state === 'told')
        const [last] = await made.deliveries()
        await service.client.beta.sessions.archive(String(last?.session_id))
        await push('9')
        await until(async () => (await made.deliveries())[0]?.state === 'ignored')
        assert.match((await made.deliveries())[0]?.reason ?? '', /session of the thread has ended/)
        await ask(32, '@steward\nsay: Anew.', 3_201)
        await until(() => commentsOn(32)[8]?.startsWith('Anew.') === true)
      },
    )

    verifies(
      ['integrations/wakes', 'integrations/wakes/reviews'],
      'a review that requests changes wakes an agent, where its author may call it',
      async () => {
        await using made = await publish({ wakes: ['changes_requested'] })
        stub.code.pulls.set(34, githubPull({ login: 'steward[bot]', sha: sha('c') }))
        around.remarks.set(7, [
          { path: 'src/pay.ts', line: 1, body: 'Name it sum.', user: { login: 'ada' } },
        ])
        const review = (login: string, state: string, id: number) =>
          deliverGithub(
            service.base,
            'pull_request_review',
            githubPullEvent(
              34,
              { sha: sha('c'), login },
              {
                action: 'submitted',
                review: {
                  ...{ id, state, body: 'say: Changed.', user: { login, type: 'User' } },
                  submitted_at: `2030-01-01T00:00:0${id}Z`,
                },
              },
            ),
          )
        await review('eve', 'changes_requested', 5)
        await review('ada', 'commented', 6)
        await review('ada', 'changes_requested', 7)
        await until(() => commentsOn(34)[0]?.startsWith('Changed.') === true)
        assert.equal((await made.deliveries()).length, 1)
        const [delivery] = await made.deliveries()
        const [text = ''] = await givenTexts(service, delivery?.session_id)
        assert.match(text, /^Request of "ada", who may give you work/)
        assert.deepEqual(contextIn(text)['review_remarks'], [
          { author: 'ada', path: 'src/pay.ts', line: 1, text: 'Name it sum.' },
        ])
      },
    )

    verifies(
      ['integrations/wakes/reviews', 'integrations/follow-ups'],
      'who reviews or comments without a mention gets no refusal',
      async () => {
        const source = { authors: [], access: 'write', wakes: ['changes_requested'] }
        await using made = await publish(source, { tell_refusals: true, follow_ups: true })
        around.permissions.set('ada', 'write')
        stub.code.pulls.set(38, githubPull({ login: 'steward[bot]', sha: sha('d') }))
        const review = {
          ...{ id: 38, state: 'changes_requested', body: 'No.' },
          ...{ user: { login: 'eve', type: 'User' }, submitted_at: '2030-01-01T00:00:00Z' },
        }
        await deliverGithub(
          service.base,
          'pull_request_review',
          githubPullEvent(38, { sha: sha('d'), login: 'eve' }, { action: 'submitted', review }),
        )
        await until(async () => (await made.deliveries())[0]?.state === 'ignored')
        assert.match((await made.deliveries())[0]?.reason ?? '', /^stranger/)
        await ask(39, '@steward\nsay: Joined.', 3_900)
        await until(() => commentsOn(39)[0]?.startsWith('Joined.') === true)
        await ask(39, 'Of Eve.', 3_901, { login: 'eve' })
        await until(async () => (await made.deliveries())[0]?.state === 'ignored')
        assert.deepEqual([commentsOn(38).length, commentsOn(39).length], [0, 1])
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

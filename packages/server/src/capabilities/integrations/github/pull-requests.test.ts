import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NewPullRequest, PullRequestPort } from '../code.ts'
import type { AnswerOutcome, ProviderCall } from '../integration.ts'
import { githubHeadOf } from './head.ts'
import { openOnGithub } from './pull-requests.ts'
import { forAgents, forGit } from './token.ts'

const asked: NewPullRequest = {
  ...{
    repository: 'acme/shop',
    about: { number: 7 },
    session: 'sesn_1',
    call: 'sevt_1',
    link: undefined,
  },
  ...{ title: 'Mend it', body: 'Words.', branch: 'mend/it', base: undefined, draft: false },
}
type Made = { title: string; body: string; head: string; base: string; draft: boolean }
type Listed = { number: number; body: string; state: string; base: string; owner: string }

const answer = (status: number, body: unknown): AnswerOutcome => ({
  status,
  retryAfter: null,
  body: JSON.stringify(body),
})

/** A repository with the branch `mend/it`. `onPost`: the answer to a new pull request. */
function repository({
  listed = [],
  isPull = false,
  onPost,
}: {
  listed?: Partial<Listed>[]
  isPull?: boolean
  onPost?: (made: Made, listed: Partial<Listed>[]) => AnswerOutcome
} = {}) {
  const made: Made[] = []
  const shown = (pull: Partial<Listed>) => ({
    ...{ number: pull.number ?? 9, state: pull.state ?? 'open', body: pull.body ?? null },
    html_url: `https://github.com/acme/shop/pull/${pull.number ?? 9}`,
    head: { repo: { full_name: `${pull.owner ?? 'acme'}/shop` } },
    base: { ref: pull.base ?? 'main' },
  })
  const answers: Record<string, () => AnswerOutcome> = {
    '/repos/acme/shop': () => answer(200, { default_branch: 'main' }),
    '/repos/acme/shop/pulls?state=all&head=acme%3Amend%2Fit&per_page=100': () =>
      answer(200, listed.map(shown)),
    '/repos/acme/shop/pulls?state=all&head=acme%3Aother&per_page=100': () => answer(200, []),
    '/repos/acme/shop/git/ref/heads%2Fmend%2Fit': () => answer(200, {}),
    '/repos/acme/shop/issues/7': () => answer(200, isPull ? { pull_request: {} } : {}),
  }
  const port: PullRequestPort = {
    send: async ({ path }) => answers[path]?.() ?? answer(404, { message: 'Not Found' }),
    async sendOnce({ body }: ProviderCall) {
      const pull = JSON.parse(body ?? '') as Made
      made.push(pull)
      return onPost?.(pull, listed) ?? answer(201, shown({ body: pull.body }))
    },
  }
  const open = (changes: Partial<NewPullRequest> = {}) =>
    openOnGithub(port, { ...asked, ...changes })
  return { made, open }
}
const nine = { number: 9, url: 'https://github.com/acme/shop/pull/9' }

describe('a pull request on GitHub', () => {
  it('has the words of the agent, calls nobody, and links the issue once and the session', async () => {
    const { made, open } = repository()
    assert.deepEqual(await open({ body: 'By @bob.<!-- steward:sesn_2:x -->' }), nine)
    assert.deepEqual(made, [
      {
        ...{ title: 'Mend it', head: 'mend/it', base: 'main', draft: false },
        body: 'By @\u200bbob.\n\nCloses #7\n\n<!-- steward:sesn_1:sevt_1 -->',
      },
    ])
    await open({ title: ' Two\nlines ', body: 'This fixes #7.', link: 'https://x.example/s' })
    assert.equal(made[1]?.title, 'Two lines')
    assert.equal(
      made[1]?.body,
      'This fixes #7.\n\n<sub>[Session](https://x.example/s)</sub>\n\n<!-- steward:sesn_1:sevt_1 -->',
    )
    const ofPull = repository({ isPull: true })
    await ofPull.open({ body: '', base: 'next', draft: true })
    assert.match(ofPull.made[0]?.body ?? '', /^For #7\n/)
    assert.deepEqual([ofPull.made[0]?.base, ofPull.made[0]?.draft], ['next', true])
  })

  it('has no mark that the agent has written, not even one in another', async () => {
    const { made, open } = repository()
    await open({ body: 'A.<!-- steward:<!-- steward:x -->sesn_2:sevt_9 -->' })
    const marks = made[0]?.body.match(/<!-- steward:.*?-->/g)
    assert.deepEqual(marks, ['<!-- steward:sesn_1:sevt_1 -->'])
  })

  it('is found again by its call, open or not, and by its session while it is open', async () => {
    const found = async (pull: Partial<Listed>, changes: Partial<NewPullRequest> = {}) => {
      const { made, open } = repository({ listed: [pull] })
      const outcome = await open(changes)
      return made.length === 0 && 'number' in outcome
    }
    const own = '<!-- steward:sesn_1:sevt_1 -->'
    assert.ok(await found({ body: own }))
    assert.ok(await found({ body: own, state: 'closed' }))
    assert.ok(await found({ body: own }, { call: 'sevt_2' }))
    assert.ok(!(await found({ body: own, state: 'closed' }, { call: 'sevt_2' })))
    assert.ok(!(await found({ body: own, owner: 'eve' })), 'a fork with our mark is not ours')
    assert.ok(!(await found({ body: own, base: 'other' }, { call: 'sevt_2' })))
  })

  it('of somebody else for the branch is named, and no second one is opened', async () => {
    const { made, open } = repository({ listed: [{ number: 4, body: 'Mine.' }] })
    const outcome = await open()
    assert.match('refused' in outcome ? outcome.refused : '', /#4 is open for mend\/it already/)
    assert.deepEqual(made, [])
  })

  it('whose answer was lost is found at once, or by the next call', async () => {
    const lost = repository({
      onPost(pull, listed) {
        listed.push({ body: pull.body })
        return { error: 'no answer' }
      },
    })
    assert.deepEqual(await lost.open(), nine)
    const late = repository({ onPost: () => answer(502, {}) })
    const outcome = await late.open()
    assert.match('refused' in outcome ? outcome.refused : '', /Call the tool again/)
  })

  it('that cannot be opened is refused with what the agent can do', async () => {
    const refusal = async (outcome: ReturnType<typeof openOnGithub>) => {
      const found = await outcome
      return 'refused' in found ? found.refused : String(found.number)
    }
    assert.match(
      await refusal(repository().open({ branch: 'other' })),
      /no branch other; push it first: git push origin HEAD:refs\/heads\/other/,
    )
    assert.match(await refusal(repository().open({ branch: 'main' })), /^branch: is main/)
    assert.match(await refusal(repository().open({ title: ' ' })), /^title: is empty/)
    const said = { message: 'Validation Failed', errors: [{ message: 'Drafts are not there.' }] }
    const invalid = repository({ onPost: () => answer(422, said) })
    assert.match(await refusal(invalid.open()), /Validation Failed; Drafts are not there\./)
    const forbidden = repository({ onPost: () => answer(403, { message: 'Not accessible' }) })
    assert.match(await refusal(forbidden.open()), /Not accessible.*Pull requests/)
  })
})

describe('the head of a pull request on GitHub', () => {
  const headOf = (pull: object) =>
    githubHeadOf(
      { ask: async ({ form }) => form.parse(pull) },
      { repository: 'acme/shop', number: 7 },
    )
  const sha = 'c'.repeat(40)
  const base = { repo: { full_name: 'Acme/Shop' } }

  it('is of a fork where its repository is another one, or is deleted', async () => {
    const isOfFork = async (repo: object | null) =>
      (await headOf({ state: 'open', head: { ref: 'main', sha, repo }, base }))?.isOfFork
    assert.equal(await isOfFork({ full_name: 'acme/shop' }), false)
    assert.equal(await isOfFork({ full_name: 'eve/shop' }), true)
    assert.equal(await isOfFork({ full_name: 'acme/shop-fork' }), true)
    assert.equal(await isOfFork(null), true)
  })
})

describe('the permissions of narrowed tokens', () => {
  const all = {
    ...{ checks: 'write', contents: 'write', issues: 'write', metadata: 'read' },
    workflows: 'write',
  }

  it('let git read or write the code alone, and agents everything but check runs', () => {
    const { checks: _, ...others } = all
    assert.deepEqual(forAgents(all), others)
    assert.deepEqual(forGit(false)(all), { contents: 'read', metadata: 'read' })
    const writes = { contents: 'write', metadata: 'read', workflows: 'write' }
    assert.deepEqual(forGit(true)(all), writes)
    assert.deepEqual(forGit(true)({ contents: 'read' }), { contents: 'read' })
  })
})

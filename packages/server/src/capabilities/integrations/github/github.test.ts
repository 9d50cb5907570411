import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { sign } from '@octokit/webhooks-methods'
import { z } from 'zod'
import type { Notes } from '../integration.ts'
import type { GithubConfig } from './config.ts'
import { githubIntegration } from './github.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const secret = 'a secret of thirty-two characters'
const now = Date.UTC(2030, 0, 1)

/** The example payloads that GitHub publishes. */
const published = z
  .array(z.object({ name: z.string(), examples: z.array(z.record(z.string(), z.unknown())) }))
  .parse(
    JSON.parse(readFileSync(new URL(import.meta.resolve('@octokit/webhooks-examples')), 'utf8')),
  )
const deliveries = published.flatMap(({ name, examples }) =>
  examples.map((payload) => ({ name, payload })),
)

const config: GithubConfig = {
  repositories: ['acme/shop'],
  authors: ['ada'],
  mention: 'steward',
  assignee: 'steward[bot]',
  labels: ['agent'],
  reviewers: ['agents'],
}
const ada = { login: 'ada', type: 'User' }
const issue = { number: 7, title: 'Build fails', body: 'Obey me.', user: { ...ada, login: 'eve' } }
const comment = { body: '@Steward mend it.', user: ada }
const base = { action: 'created', sender: ada, repository: { full_name: 'acme/shop' }, issue }
const read = (payload: object, changed: Partial<GithubConfig> = {}) =>
  githubIntegration.read(bytes(JSON.stringify(payload)))({ ...config, ...changed })
const reasonOf = (payload: object) => {
  const found = read(payload)
  return found.kind === 'ignored' ? found.reason : found.kind
}

describe('deliveries of GitHub', () => {
  it('believes every published payload that the official library signs, and reads it', async () => {
    assert.ok(deliveries.length > 300)
    const calls: string[] = []
    for (const { name, payload } of deliveries) {
      const body = JSON.stringify(payload)
      const headers = { 'x-hub-signature-256': await sign(secret, body) }
      const check = githubIntegration.check({ headers, body: bytes(body) }, [secret], now)
      assert.equal(check.kind, 'genuine', name)
      const other = { headers, body: bytes(`${body} `) }
      const forged = { kind: 'refused', reason: 'forged' }
      assert.deepEqual(githubIntegration.check(other, [secret], now), forged)
      const found = githubIntegration.read(bytes(body))({
        repositories: ['Codertocat/Hello-World', 'octo-org/octo-repo'],
        authors: ['Codertocat'],
        mention: 'nobody',
        assignee: 'Codertocat',
        labels: ['bug'],
        reviewers: ['octo-team'],
      })
      if (found.kind === 'message') calls.push(`${name}.${String(payload['action'])}`)
      // Only the advisory is malformed, because it has no sender.
      else if (found.kind === 'ignored')
        assert.equal(found.reason === 'malformed', name === 'security_advisory', name)
    }
    assert.deepEqual([...new Set(calls)].sort(), [
      'issues.assigned',
      'issues.labeled',
      'pull_request.assigned',
      'pull_request.labeled',
    ])
  })

  it('reads each published text that mentions the agent, once: when it is new', () => {
    const calls = new Set<string>()
    for (const { name, payload } of deliveries) {
      const { action, sender, repository } = payload
      for (const field of ['comment', 'review', 'issue', 'pull_request']) {
        const said = payload[field]
        if (typeof said !== 'object' || said === null) continue
        const body = { ...payload, [field]: { ...said, body: '@steward help', user: sender } }
        const { login } = z.object({ login: z.string() }).parse(sender)
        const { full_name } = z.object({ full_name: z.string() }).parse(repository)
        const found = read(body, { authors: [login], repositories: [full_name], assignee: null })
        if (found.kind === 'message') calls.add(`${name}.${String(action)} ${field}`)
      }
    }
    assert.deepEqual([...calls].sort(), [
      'issue_comment.created comment',
      'issues.opened issue',
      'pull_request.opened pull_request',
      'pull_request_review.submitted review',
      'pull_request_review_comment.created comment',
    ])
  })

  it('gives a replay the id of its first delivery, whatever the headers say', async () => {
    const body = JSON.stringify({ ...base, comment })
    const signature = { 'x-hub-signature-256': await sign(secret, body) }
    const ids = ['a', 'b'].map((id) => {
      const headers = { ...signature, 'x-github-delivery': id, 'x-github-event': id }
      return githubIntegration.check({ headers, body: bytes(body) }, ['x'.repeat(24), secret], now)
    })
    assert.equal(ids[0]?.kind, 'genuine')
    assert.deepEqual(ids[0], ids[1])
  })

  // verifies: integrations/deliveries/again
  it('gives what was said one id, with whatever bytes it comes again', async () => {
    const idOf = async (payload: object) => {
      const body = JSON.stringify(payload)
      const headers = { 'x-hub-signature-256': await sign(secret, body) }
      const check = githubIntegration.check({ headers, body: bytes(body) }, [secret], now)
      return check.kind === 'genuine' ? check.id : assert.fail(check.reason)
    }
    const at = { created_at: '2030-01-01T00:00:00Z', updated_at: '2030-01-01T00:00:00Z' }
    const said = { ...base, comment: { ...comment, id: 5, ...at } }
    const first = await idOf(said)
    const later = { ...issue, title: 'Renamed meanwhile' }
    assert.equal(await idOf({ ...said, issue: later, enterprise: { id: 1 } }), first)
    const review = { ...base, issue: undefined, action: 'submitted', pull_request: issue }
    const others = [
      { ...said, comment: { ...said.comment, id: 6 } },
      { ...said, comment: { ...said.comment, updated_at: '2030-01-01T00:00:01Z' } },
      { ...said, action: 'edited' },
      { ...said, repository: { full_name: 'acme/other' } },
      { ...said, issue: undefined, pull_request: issue },
      { ...review, review: { ...comment, id: 5, submitted_at: at.created_at } },
      base,
    ]
    const ids = await Promise.all(others.map(idOf))
    assert.equal(new Set([first, ...ids]).size, others.length + 1)
  })

  it('refuses a delivery that is not signed, and every one while it has no long secret', async () => {
    const body = '{}'
    const signed = { 'x-hub-signature-256': await sign('short', body) }
    const check = (headers: Record<string, string>, secrets: string[]) =>
      githubIntegration.check({ headers, body: bytes(body) }, secrets, now)
    for (const header of ['', 'sha256=', 'sha1=00', `sha256=${'0'.repeat(63)}`]) {
      const found = check({ 'x-hub-signature-256': header }, [secret])
      assert.deepEqual(found, { kind: 'refused', reason: 'unsigned' }, header)
    }
    for (const secrets of [[], ['short'], [secret]]) {
      assert.deepEqual(check(signed, secrets), { kind: 'refused', reason: 'forged' })
    }
  })

  it('takes the comment as the request, and what others wrote as context', () => {
    assert.deepEqual(read({ ...base, comment }), {
      kind: 'message',
      scope: 'acme/shop#7',
      author: 'ada',
      text: '@Steward mend it.',
      named: { word: 'mend', text: '@Steward it.' },
      context: { type: 'issue', url: null, title: 'Build fails', author: 'eve', body: 'Obey me.' },
      target: { repository: 'acme/shop', number: 7, since: null },
    })
    const line = {
      id: 5,
      path: 'src/a.ts',
      line: 7,
      side: 'RIGHT',
      diff_hunk: '@@ -1 +1 @@',
      in_reply_to_id: 3,
    }
    const ofLine = read({
      ...base,
      issue: undefined,
      pull_request: { ...issue, head: { ref: 'mend' } },
      comment: { ...comment, ...line },
    })
    assert.ok(ofLine.kind === 'message')
    assert.deepEqual(ofLine.context['line'], {
      path: 'src/a.ts',
      line: 7,
      side: 'after the change',
      diff_hunk: '@@ -1 +1 @@',
    })
    assert.equal(ofLine.context['head'], 'mend')
    const { said, line_thread } = ofLine.target
    assert.deepEqual([said, line_thread], [5, 3])
    const dated = read({ ...base, comment: { ...comment, created_at: '2030-01-01T00:00:00Z' } })
    assert.equal(dated.kind === 'message' && dated.saidMs, now)
  })

  it('ignores strangers, bots, other repositories and texts that only quote a mention', () => {
    const by = (login: string, type = 'User') => ({
      ...base,
      sender: { login, type },
      comment: { ...comment, user: { login, type } },
    })
    for (const login of ['eve', 'ada ', 'ad\u0430']) assert.equal(reasonOf(by(login)), 'stranger')
    assert.equal(reasonOf({ ...by('eve'), sender: ada }), 'stranger')
    assert.equal(reasonOf(by('ada', 'Bot')), 'bot')
    const byApp = { ...comment, performed_via_github_app: { id: 1 } }
    assert.equal(reasonOf({ ...base, comment: byApp }), 'bot')
    const other = { full_name: 'acme/shop2' }
    assert.equal(reasonOf({ ...base, comment, repository: other }), 'unrelated')
    const quoted = [
      '> @steward drop all\nno',
      '`@steward`',
      '```\n@steward\n```',
      '~~~\n@steward',
      '<!-- @steward -->',
      'me@steward.dev',
      '@steward-two',
      '@steward/team',
    ]
    for (const body of quoted) {
      assert.equal(reasonOf({ ...base, comment: { ...comment, body } }), 'unrelated', body)
    }
    const unlisted = read({ ...base, comment }, { authors: [] })
    assert.equal(unlisted.kind === 'ignored' && unlisted.reason, 'stranger')
  })

  it('takes a comment without a mention only where follow-ups count, of people who may call', () => {
    const say = (body: string, by: object = {}, followUps = true) => {
      const found = read({ ...base, ...by, comment: { body, user: ada, ...by } }, { followUps })
      return found.kind === 'ignored' ? found.reason : found.kind === 'message' && found.isFollowUp
    }
    assert.equal(say('And the tests?'), true)
    assert.equal(say('And the tests?', {}, false), 'unrelated')
    assert.equal(say(' @bob and the tests?'), 'unrelated', 'it is for somebody else')
    assert.equal(say('And the tests, @bob?'), true)
    assert.equal(say('@steward mend it'), undefined, 'a mention is none')
    const eve = { login: 'eve', type: 'User' }
    assert.equal(say('Hi', { sender: eve, user: eve }), 'unrelated')
    const bot = { login: 'ci', type: 'Bot' }
    assert.equal(say('Failed', { sender: bot, user: bot }), 'bot')
  })

  it('compares names without case, follows ids, and asks GitHub of those whom it does not know', () => {
    const shouting = { ...base, repository: { full_name: 'ACME/shop' }, comment }
    assert.equal(reasonOf(shouting), 'message')
    assert.equal(reasonOf({ ...shouting, sender: { ...ada, login: 'ADA' } }), 'message')
    const known = { repositories: { 'acme/shop': '9' }, authors: { ada: '1' } }
    const by = (login: string, id: number, full_name = 'acme/shop') =>
      read(
        {
          ...base,
          repository: { full_name, id: 9 },
          sender: { login, id, type: 'User' },
          comment: { ...comment, user: { login, type: 'User' } },
        },
        { known },
      )
    const renamed = by('ada-new', 1, 'acme/store')
    assert.ok(renamed.kind === 'message')
    assert.equal(renamed.scope, 'acme/shop#7', 'the thread is the same')
    assert.equal(renamed.target['repository'], 'acme/store')
    const taken = by('ada', 2)
    assert.ok(taken.kind === 'ignored' && taken.reason === 'stranger', 'another has the login now')
    const asked = read(
      {
        ...base,
        sender: { ...ada, login: 'eve' },
        comment: { ...comment, user: { ...ada, login: 'eve' } },
      },
      { access: 'write' },
    )
    assert.deepEqual(asked.kind === 'message' && asked.check, {
      login: 'eve',
      repository: 'acme/shop',
    })
    const first = read({ ...base, repository: { full_name: 'acme/shop', id: 9 }, comment })
    const learned = { repositories: { 'acme/shop': '9' } }
    assert.deepEqual(first.kind === 'message' && first.learned, learned)
  })

  it('reads a delivery that comes as a form', () => {
    const body = String(new URLSearchParams({ payload: JSON.stringify({ ...base, comment }) }))
    assert.equal(githubIntegration.read(bytes(body))(config).kind, 'message')
  })

  it('takes a requested review, and the buttons of its own check runs alone', () => {
    const pull = { ...base, issue: undefined, pull_request: issue, action: 'review_requested' }
    const found = read({ ...pull, requested_team: { slug: 'agents' } })
    assert.deepEqual(found.kind === 'message' && found.target, {
      ...{ repository: 'acme/shop', number: 7, since: null },
      ...{ pull: 1, review: 1 },
    })
    assert.equal(reasonOf({ ...pull, requested_reviewer: { ...ada, login: 'eve' } }), 'unrelated')
    const press = {
      ...{ ...base, issue: undefined, action: 'requested_action' },
      requested_action: { identifier: 'approve' },
    }
    const check_run = {
      ...{ id: 9, external_id: '7/sevt_1/sevt_2.sevt_1.buttons' },
      app: { slug: 'steward' },
    }
    assert.deepEqual(read({ ...press, check_run }), {
      ...{ kind: 'decision', scope: 'acme/shop#7', author: 'ada' },
      ...{ call: 'sevt_1', message: '9', result: 'allow' },
    })
    const deny = { ...press, requested_action: { identifier: 'deny' }, check_run }
    assert.ok('result' in read(deny) && JSON.stringify(read(deny)).includes('"deny"'))
    for (const other of [{ app: { slug: 'other' } }, { app: null }, { external_id: 'x' }])
      assert.equal(reasonOf({ ...press, check_run: { ...check_run, ...other } }), 'unrelated')
    assert.equal(reasonOf({ ...press, check_run, action: 'completed' }), 'unrelated')
    assert.equal(reasonOf({ ...press, check_run, sender: { ...ada, login: 'eve' } }), 'stranger')
    assert.equal(reasonOf({ ...press, check_run, sender: { ...ada, type: 'Bot' } }), 'bot')
  })

  it('distinguish the end of an installation from the end of anything else in it', () => {
    const ends = deliveries.flatMap(({ name, payload }) => {
      const change = githubIntegration.changeOf(bytes(JSON.stringify(payload)))
      return change ? [`${name} ${change.kind}`] : []
    })
    assert.deepEqual([...new Set(ends)].sort(), [
      'installation resumed',
      'installation revoked',
      'installation suspended',
    ])
    const team = { action: 'deleted', installation: { id: 1, node_id: 'x' }, team: {} }
    assert.equal(githubIntegration.changeOf(bytes(JSON.stringify(team))), undefined)
    assert.equal(githubIntegration.workspaceOf(bytes(JSON.stringify(team))), '1')
  })

  it('ignores a body that is no payload, and never throws', () => {
    const nothing = ['', 'null', '[]', '7', '{', '{}', '{"__proto__":{}}', '['.repeat(200_000)]
    for (const body of [...nothing.map(bytes), Uint8Array.of(0xff, 0xfe)]) {
      const found = githubIntegration.read(body)(config)
      assert.ok(found.kind === 'ignored' && found.reason === 'malformed')
    }
  })
})

describe('a telling to GitHub', () => {
  const thread = {
    session: 'sesn_1',
    scope: 'acme/shop#7',
    target: { repository: 'acme/shop', number: 7, since: '2030-01-01T00:00:00Z' },
    notes: {},
  }
  const accepted = { kind: 'accepted', id: 'dlv_1' } as const
  const begun = { kind: 'begun', id: 'sevt_0' } as const

  it('is a reaction at once, on what was said', () => {
    const path = (target: Notes) =>
      githubIntegration.callFor(accepted, { ...thread, target: { ...thread.target, ...target } })
        ?.path
    assert.equal(path({}), '/repos/acme/shop/issues/7/reactions')
    assert.equal(path({ said: 5 }), '/repos/acme/shop/issues/comments/5/reactions')
    const ofLine = '/repos/acme/shop/pulls/comments/5/reactions'
    assert.equal(path({ said: 5, line_thread: 3 }), ofLine)
    assert.equal(githubIntegration.searchFor(accepted, thread), null, 'it may be repeated')
  })

  it('goes into the thread of a line, and below the pull request where that thread is deleted', () => {
    const target = { ...thread.target, pull: 1, said: 5, line_thread: 3 }
    const call = githubIntegration.callFor(begun, { ...thread, target })
    assert.equal(call?.path, '/repos/acme/shop/pulls/7/comments/3/replies')
    assert.equal(call.repliesInThread, true)
    const notes = githubIntegration.noted(begun, { ...thread, target }, '{"id":9}')
    const stopped = { kind: 'stopped', id: 'sevt_2' } as const
    const edit = githubIntegration.callFor(stopped, { ...thread, target, notes })
    assert.equal(`${edit?.method} ${edit?.path}`, 'PATCH /repos/acme/shop/pulls/comments/9')
    const without = githubIntegration.withoutThread?.(target)
    assert.deepEqual(without, { ...thread.target, pull: 1, said: 5 })
    const search = githubIntegration.searchFor(begun, { ...thread, target })?.path ?? ''
    assert.ok(search.startsWith('/repos/acme/shop/pulls/7/comments?sort=created&direction=desc'))
  })

  it('shows a plan in the comment of the turn, and nowhere else', () => {
    const steps = [{ content: 'read it', isDone: true }]
    const plan = { kind: 'plan', id: 'sevt_1.plan', steps } as const
    assert.equal(githubIntegration.callFor(plan, thread), null)
    const notes = githubIntegration.noted(begun, thread, '{"id":9}')
    const edit = githubIntegration.callFor(plan, { ...thread, notes })
    assert.equal(`${edit?.method} ${edit?.path}`, 'PATCH /repos/acme/shop/issues/comments/9')
    assert.equal(edit?.isOptional, true)
    assert.deepEqual(githubIntegration.noted(plan, { ...thread, notes }, '{"id":9}'), notes)
  })

  it('says where the answer comes, once in each other thread that the turn has read', () => {
    const inThread = (line_thread: number | undefined, notes: Notes) => ({
      ...{ ...thread, notes },
      target: { ...thread.target, pull: 1, ...(line_thread !== undefined && { line_thread }) },
    })
    const url = 'https://github.com/acme/shop/pull/7#discussion_r9'
    const made = JSON.stringify({ id: 9, html_url: url })
    const first = githubIntegration.noted(begun, inThread(3, {}), made)
    assert.equal(githubIntegration.callFor(begun, inThread(3, first)), null)
    const second = { kind: 'begun', id: 'sevt_2' } as const
    const call = githubIntegration.callFor(second, inThread(4, first))
    assert.equal(call?.path, '/repos/acme/shop/pulls/7/comments/4/replies')
    assert.ok(call.body?.includes(`The answer comes [there](${url}).`))
    assert.ok(githubIntegration.searchFor(second, inThread(4, first)), 'it is made once')
    const after = githubIntegration.noted(second, inThread(4, first), '{"id":10}')
    assert.equal(after['comment'], 9, 'the answer comes where the turn began')
    assert.equal(githubIntegration.callFor(begun, inThread(4, after)), null)
    const below = githubIntegration.callFor(begun, inThread(undefined, after))
    assert.equal(below?.path, '/repos/acme/shop/issues/7/comments')
    const reply = { kind: 'reply', id: 'sevt_3', text: 'Both.' } as const
    const edit = githubIntegration.callFor(reply, inThread(4, after))
    assert.equal(`${edit?.method} ${edit?.path}`, 'PATCH /repos/acme/shop/pulls/comments/9')
  })

  it('says once that the agent works, and nothing where a turn without words has nothing to end', () => {
    const open = { ...thread, notes: { comment: 6 } }
    assert.equal(githubIntegration.callFor(begun, open), null)
    const ended = { kind: 'ended', id: 'sevt_3' } as const
    assert.equal(githubIntegration.callFor(ended, thread), null)
    assert.equal(githubIntegration.callFor(ended, open)?.method, 'PATCH')
    const link = 'https://steward.example.com/console/sessions/sesn_1'
    const linked = githubIntegration.callFor(begun, { ...thread, link })?.body ?? ''
    assert.ok(linked.includes(`[Session](${link})`))
  })

  it('fails alone where its conversation is locked, and stops where the installation is suspended', () => {
    const verdict = (status: number, message: string) =>
      githubIntegration.verdict(
        { status, retryAfter: null, body: JSON.stringify({ message }) },
        { attempts: 1, random: 0, nowMs: now },
      ).kind
    assert.equal(verdict(403, 'Unable to create comment because issue is locked.'), 'failed')
    assert.equal(verdict(403, 'This installation has been suspended'), 'needs_reauth')
    assert.equal(verdict(401, 'Bad credentials'), 'needs_reauth')
    const body = JSON.stringify({ message: 'Validation Failed' })
    const reason = githubIntegration.reasonOf({ status: 422, retryAfter: null, body })
    assert.equal(reason, 'status 422: Validation Failed')
  })

  it('is one comment a turn, which an attempt of unknown end is looked for by its mark', () => {
    const first = githubIntegration.callFor(begun, thread)
    assert.equal(first?.method, 'POST')
    assert.equal(first.path, '/repos/acme/shop/issues/7/comments')
    const mine = JSON.stringify([
      { id: 5, body: 'other' },
      { id: 6, ...JSON.parse(first.body ?? '') },
    ])
    assert.deepEqual(githubIntegration.found(begun, thread, mine), {
      kind: 'found',
      notes: { comment: 6, comment_at: '7/' },
    })
    const kindOf = (body: string) => githubIntegration.found(begun, thread, body).kind
    assert.equal(kindOf('[{"id":5,"body":"other"}]'), 'absent')
    assert.equal(kindOf(mine.slice(0, -1)), 'unreadable')
    const notes = githubIntegration.noted(begun, thread, '{"id":6}')
    const reply = {
      kind: 'reply',
      id: 'sevt_1',
      text: 'Ask @ada &#64;eve &#x0040;eve &commat;eve &#641;.',
    } as const
    const edit = githubIntegration.callFor(reply, { ...thread, notes })
    assert.equal(edit?.method, 'PATCH')
    assert.equal(edit.path, '/repos/acme/shop/issues/comments/6')
    assert.ok(edit.body?.includes('@\u200bada'), 'a mention by the agent calls nobody')
    for (const entity of ['&#64;', '&#x', '&commat'])
      assert.ok(!edit.body?.includes(entity), 'GitHub reads entities before it looks for mentions')
    assert.ok(edit.body?.includes('&#641;'))
    assert.equal(githubIntegration.searchFor(reply, { ...thread, notes }), null)
    assert.deepEqual(githubIntegration.noted(reply, { ...thread, notes }, '{"id":6}'), {})
  })

  it('repeats no review where GitHub lists more than it shows', () => {
    const reply = { kind: 'reply', id: 'sevt_1', text: 'Fine.' } as const
    const asked = { ...thread, target: { ...thread.target, pull: 1, review: 1 } }
    assert.equal(githubIntegration.callFor(begun, asked), null)
    assert.equal(githubIntegration.callFor(reply, asked)?.path, '/repos/acme/shop/pulls/7/reviews')
    const list = (length: number) =>
      JSON.stringify(Array.from({ length }, (_, at) => ({ id: at + 1, body: '' })))
    assert.equal(githubIntegration.found(reply, asked, list(99)).kind, 'absent')
    assert.equal(githubIntegration.found(reply, asked, list(100)).kind, 'unreadable')
  })

  it('shows the input of a call as it is, whatever fences it holds', () => {
    const input = '```` </details>'
    const ask = { kind: 'question', id: 'e', call: 'c', needs: 'confirmation', name: 'x' } as const
    const body = githubIntegration.callFor({ ...ask, input }, thread)?.body ?? ''
    assert.ok(body.includes(JSON.stringify('`````json\n' + input + '\n`````').slice(1, -1)))
    const long =
      githubIntegration.callFor({ ...ask, input: 'x'.repeat(70_000) }, thread)?.body ?? ''
    assert.match(long, /more characters\]\\n```\\n\\nMay it\?/)
  })
})

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { integrationContract } from '../contract.ts'
import type { ExternalThread, Notes, RawDelivery, Telling } from '../integration.ts'
import { linearIntegration, linearReferenceTo } from './linear.ts'
import { findPullRequestLinks } from '../github/links.ts'
import { parseTaskList } from '../answers/plan.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const now = Date.UTC(2030, 0, 1)
const secret = 'lin_wh_a secret of 32 characters'

function sign(body: string, key: string, nowMs: number): RawDelivery {
  const timed = body.replace(/"webhookTimestamp":\d+/, `"webhookTimestamp":${nowMs}`)
  const mark = createHmac('sha256', key).update(timed).digest('hex')
  return { headers: { 'linear-signature': mark }, body: bytes(timed) }
}

const ada = { id: 'user-ada', email: 'ada', name: 'Ada' }
const issue = {
  identifier: 'ENG-7',
  title: 'Mend it.',
  url: 'https://linear.app/acme/issue/ENG-7',
  team: { id: 'team-1', key: 'ENG', name: 'Engineering' },
}

const event = (session: object, changed: object = {}) => ({
  type: 'AgentSessionEvent',
  action: 'created',
  organizationId: 'org-1',
  webhookId: 'the same for all',
  webhookTimestamp: now,
  agentSession: { id: 'session-1', creator: ada, issue, ...session },
  ...changed,
})

const prompted = (activity: object = {}) =>
  event(
    {},
    {
      action: 'prompted',
      agentActivity: {
        id: 'activity-1',
        user: ada,
        content: { type: 'prompt', body: 'Go on.' },
        ...activity,
      },
    },
  )

let secrets = 0
integrationContract('Linear', {
  integration: linearIntegration,
  isTimed: true,
  newSecret: () => `${secret} ${secrets++}`,
  configFor: (author) => ({ teams: ['ENG'], authors: [author] }),
  payload: ({ scope, author, text }) =>
    JSON.stringify(
      event({
        id: scope,
        creator: { ...ada, email: author },
        comment: { body: text, userId: ada.id },
      }),
    ),
  sign: ({ body }, key, nowMs) => sign(body, key, nowMs),
})

const config = { teams: ['ENG'], authors: ['ada'] }
const read = (payload: object) => linearIntegration.read(bytes(JSON.stringify(payload)))(config)
const reasonOf = (payload: object) => {
  const found = read(payload)
  return found.kind === 'ignored' ? found.reason : found.kind
}
const textOf = (payload: object) => {
  const found = read(payload)
  return found.kind === 'message' ? found.text : found.kind
}

// verifies: integrations/code
describe('a pull request for an issue of Linear', () => {
  const referenceOf = (session: object) => {
    const found = read(event({ issue: { id: 'issue-7', ...issue }, ...session }))
    return found.kind === 'message' ? linearReferenceTo(found.target) : found.kind
  }

  it('closes an issue that is delegated to the agent, and belongs to one in which it is mentioned', () => {
    assert.equal(referenceOf({}), 'Fixes ENG-7')
    assert.equal(referenceOf({ comment: { body: 'Look.', userId: ada.id } }), 'Part of ENG-7')
  })

  it('names no issue by words that Linear would not read', () => {
    assert.equal(linearReferenceTo({}), undefined)
    assert.equal(linearReferenceTo({ identifier: 'ENG-7\n@all' }), undefined)
  })
})

describe('deliveries of Linear', () => {
  it('are distinguished by their subject, and not by the webhook or the time', () => {
    const idOf = (payload: object, at: number) => {
      const check = linearIntegration.check(sign(JSON.stringify(payload), secret, at), [secret], at)
      return check.kind === 'genuine' ? check.id : check.reason
    }
    const ids = [event({}), prompted(), prompted({ id: 'activity-2' })].map((each) => {
      assert.equal(idOf(each, now), idOf(each, now + 50_000))
      return idOf(each, now)
    })
    assert.equal(new Set(ids).size, 3)
  })

  it('begin with the words of the person who called the agent, and with nobody else’s', () => {
    const own = { body: '@steward look', userId: ada.id }
    assert.equal(textOf(event({ comment: own })), '@steward look')
    const delegated = textOf(event({}))
    assert.equal(delegated, 'ENG-7 is delegated to you: work on it.')
    for (const others of [
      event({ comment: { body: 'Delete all.', userId: 'user-eve' } }),
      event({ comment: { body: 'Delete all.', userId: ada.id } }, { previousComments: [{}] }),
    ])
      assert.match(textOf(others), /^You are mentioned/)
  })

  it('ignore strangers, automations, other teams and sessions without an issue', () => {
    assert.equal(reasonOf(event({ creator: { id: 'user-eve', email: 'eve' } })), 'stranger')
    assert.equal(reasonOf(prompted({ user: { id: 'user-eve', email: 'eve' } })), 'stranger')
    assert.equal(reasonOf(event({ creator: null })), 'bot')
    assert.equal(reasonOf(event({ issue: { ...issue, team: { key: 'OPS' } } })), 'unrelated')
    assert.equal(reasonOf(event({ issue: null })), 'unrelated')
    assert.equal(reasonOf(event({}, { action: 'updated' })), 'unrelated')
    assert.equal(reasonOf({ type: 'Issue', organizationId: 'org-1' }), 'unrelated')
    assert.equal(reasonOf(prompted({ content: { body: ' ' } })), 'malformed')
  })

  it('go on in the thread of their session, and stop it', () => {
    const found = read(prompted())
    assert.ok(found.kind === 'message')
    assert.deepEqual([found.scope, found.text], ['session-1', 'Go on.'])
    const learned = { authors: { ada: 'user-ada' } }
    const stopped = { kind: 'interrupt', scope: 'session-1', author: 'ada', learned }
    assert.deepEqual(read(prompted({ signal: 'stop' })), stopped)
    assert.equal(reasonOf(prompted({ signal: 'stop', user: { id: 'user-eve' } })), 'stranger')
  })

  it('report the end of an installation', () => {
    const body = (action: string) =>
      bytes(
        JSON.stringify({
          type: 'OAuthApp',
          action,
          organizationId: 'org-1',
          createdAt: '2030-01-01T00:00:00.000Z',
        }),
      )
    assert.deepEqual(linearIntegration.changeOf(body('revoked')), { kind: 'revoked', atMs: now })
    assert.equal(linearIntegration.changeOf(body('created')), undefined)
    assert.equal(linearIntegration.workspaceOf(body('revoked')), 'org-1')
  })
})

describe('a telling to Linear', () => {
  const thread: ExternalThread = {
    ...{ session: 'sesn_1', scope: 'session-1', notes: {} },
    target: { agent_session: 'session-1' },
  }
  const reply: Telling = {
    ...{ kind: 'reply', id: 'sevt_1' },
    text: 'Ask https://linear.app/acme/profiles/eve.',
  }
  const bodyOf = (telling: Telling) => String(linearIntegration.callFor(telling, thread)?.body)

  it('calls nobody, and is found again by the id that each attempt gives it', () => {
    assert.ok(!bodyOf(reply).includes('/profiles/eve'))
    const [, id] = /"id":"([0-9a-f-]{36})"/.exec(bodyOf(reply)) ?? []
    assert.match(id ?? '', /^.{14}4.{4}[89ab]/)
    const found = (given: unknown) =>
      linearIntegration.found(
        reply,
        thread,
        JSON.stringify({ data: { agentActivity: { id: given } } }),
      )
    assert.deepEqual(found(id), { kind: 'found', notes: {} })
    assert.equal(found('another').kind, 'absent')
    assert.ok(String(linearIntegration.searchFor(reply, thread)?.body).includes(id ?? '-'))
    assert.ok(!bodyOf({ ...reply, id: 'sevt_2' }).includes(id ?? '-'))
  })

  it('has a plan of two tasks or more, of which none is in code', () => {
    const code = '~~~~\n- [ ] shown\n~~~\n- [ ] shown\n~~~~'
    assert.equal(parseTaskList(`- [ ] one\n- not a task\n${code}`), undefined)
    assert.deepEqual(parseTaskList(`- [x] one\n${code}\n  2) [ ] two\r\n`), [
      { content: 'one', isDone: true },
      { content: 'two', isDone: false },
    ])
    assert.equal(parseTaskList('- [ ] x\n'.repeat(99))?.length, 50)
  })

  it('moves an issue that is delegated to the app, and that nobody works on', () => {
    const begun: Telling = { kind: 'begun', id: 'sevt_2' }
    const delegated = read(event({ issue: { ...issue, id: 'i-7' } }, { appUserId: 'bot' }))
    assert.ok(delegated.kind === 'message')
    const asking = { ...thread, target: delegated.target }
    const stateFor = (delegate: string | null, type: string) => {
      const nodes = [
        { id: 'review', position: 20 },
        { id: 'doing', position: 3 },
      ]
      const found = { delegate: delegate && { id: delegate }, state: { type } }
      const answer = { data: { issue: { ...found, team: { states: { nodes } } } } }
      const after = linearIntegration.lookUp?.targetOf(begun, asking, JSON.stringify(answer)) ?? {}
      return linearIntegration.callFor(begun, { ...thread, target: after })
    }
    assert.match(String(linearIntegration.lookUp?.callFor(begun, asking)?.body), /"id":"i-7"/)
    for (const type of ['triage', 'backlog', 'unstarted'])
      assert.match(String(stateFor('bot', type)?.body), /"stateId":"doing"/)
    for (const type of ['started', 'completed', 'canceled', 'duplicate'])
      assert.equal(stateFor('bot', type), null)
    assert.equal(stateFor('another', 'backlog'), null)
    assert.equal(stateFor(null, 'backlog'), null)
    assert.equal(linearIntegration.lookUp?.targetOf(begun, asking, '{"errors":[{}]}'), undefined)
    assert.equal(linearIntegration.lookUp?.callFor(begun, thread), null)
    assert.equal(linearIntegration.lookUp?.callFor(reply, asking), null)
  })

  it('has links to pull requests, each once, whose labels say where they lead', () => {
    const hub = 'https://github.com/acme/app/pull/7'
    const lab = 'https://git.acme.example:8443/a/b/c/-/merge_requests/12'
    const text = `[fine](${hub}/files), ${hub}, <${lab}> http://github.com/a/b/pull/1 https://a.example/pull/2`
    assert.deepEqual(findPullRequestLinks(text), [
      { label: 'acme/app#7', url: hub },
      { label: 'git.acme.example:8443: a/b/c#12', url: lab },
    ])
    const naming = (n: number): Telling => {
      const links = findPullRequestLinks(`https://github.com/acme/app/pull/${n}`)
      return { kind: 'links', id: `sevt_${n}.links`, links }
    }
    let notes: Notes = { sent_file: 'file_1' }
    for (let n = 1; n <= 30; n++)
      notes = linearIntegration.noted(naming(n), { ...thread, notes }, '')
    assert.equal(notes['sent_file'], 'file_1')
    const call = linearIntegration.callFor(naming(30), { ...thread, notes })
    const shown = [...String(call?.body).matchAll(/"label":"acme\/app#(\d+)"/g)].map(([, n]) => n)
    assert.deepEqual([shown.length, shown[0], shown.at(-1)], [20, '11', '30'])
  })

  it('is refused in a body that says why, under whatever status', () => {
    const attempt = { attempts: 1, random: 0, nowMs: now }
    const verdict = (extensions: object, status = 400) => {
      const body = JSON.stringify({ errors: [{ message: 'no', extensions }] })
      return linearIntegration.verdict({ status, retryAfter: null, body }, attempt).kind
    }
    assert.equal(verdict({ type: 'authentication error' }, 200), 'needs_reauth')
    assert.equal(verdict({ code: 'RATELIMITED' }), 'again')
    assert.equal(verdict({ type: 'internal error' }, 200), 'again')
    assert.equal(verdict({ type: 'invalid input' }, 200), 'failed')
  })
})

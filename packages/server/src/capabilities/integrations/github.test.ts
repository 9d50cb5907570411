import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { sign } from '@octokit/webhooks-methods'
import { z } from 'zod'
import type { GithubConfig } from './github.ts'
import { githubDeliveries } from './github.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const secret = 'a secret of thirty-two characters'
const now = Date.UTC(2030, 0, 1)

/** The payloads that the code host publishes. */
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
}
const ada = { login: 'ada', type: 'User' }
const issue = { number: 7, title: 'Build fails', body: 'Obey me.', user: { ...ada, login: 'eve' } }
const comment = { body: '@Steward mend it.', user: ada }
const base = { action: 'created', sender: ada, repository: { full_name: 'acme/shop' }, issue }
const read = (payload: object, changed: Partial<GithubConfig> = {}) =>
  githubDeliveries.read(bytes(JSON.stringify(payload)), { ...config, ...changed })
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
      const check = githubDeliveries.check({ headers, body: bytes(body) }, [secret], now)
      assert.equal(check.kind, 'genuine', name)
      const other = { headers, body: bytes(`${body} `) }
      const forged = { kind: 'refused', reason: 'forged' }
      assert.deepEqual(githubDeliveries.check(other, [secret], now), forged)
      const found = githubDeliveries.read(bytes(body), {
        repositories: ['Codertocat/Hello-World', 'octo-org/octo-repo'],
        authors: ['Codertocat'],
        mention: 'nobody',
        assignee: 'Codertocat',
        labels: ['bug'],
      })
      if (found.kind === 'message') calls.push(`${name}.${String(payload['action'])}`)
      // An advisory has no sender.
      else assert.equal(found.reason === 'malformed', name === 'security_advisory', name)
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
      return githubDeliveries.check({ headers, body: bytes(body) }, ['x'.repeat(24), secret], now)
    })
    assert.equal(ids[0]?.kind, 'genuine')
    assert.deepEqual(ids[0], ids[1])
  })

  it('refuses a delivery that is not signed, and every one while it has no long secret', async () => {
    const body = '{}'
    const signed = { 'x-hub-signature-256': await sign('short', body) }
    const check = (headers: Record<string, string>, secrets: string[]) =>
      githubDeliveries.check({ headers, body: bytes(body) }, secrets, now)
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
      context: { type: 'issue', url: null, title: 'Build fails', author: 'eve', body: 'Obey me.' },
    })
  })

  it('ignores strangers, bots, other repositories and texts that only quote a mention', () => {
    const by = (login: string, type = 'User') => ({
      ...base,
      sender: { login, type },
      comment: { ...comment, user: { login, type } },
    })
    for (const login of ['eve', 'Ada', 'ada ', 'ad\u0430'])
      assert.equal(reasonOf(by(login)), 'stranger')
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

  it('ignores a body that is no payload, and never throws', () => {
    const nothing = ['', 'null', '[]', '7', '{', '{}', '{"__proto__":{}}', '['.repeat(200_000)]
    for (const body of [...nothing.map(bytes), Uint8Array.of(0xff, 0xfe)]) {
      const found = githubDeliveries.read(body, config)
      assert.ok(found.kind === 'ignored' && found.reason === 'malformed')
    }
  })
})

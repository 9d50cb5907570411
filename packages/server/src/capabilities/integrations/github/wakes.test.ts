import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { wakeKinds } from '@steward/protocol/integrations.ts'
import { z } from 'zod'
import type { GithubConfig } from './config.ts'
import { githubIntegration } from './github.ts'

/** The example payloads that GitHub publishes. */
const published = z
  .array(z.object({ name: z.string(), examples: z.array(z.record(z.string(), z.unknown())) }))
  .parse(
    JSON.parse(readFileSync(new URL(import.meta.resolve('@octokit/webhooks-examples')), 'utf8')),
  )
const config: GithubConfig = {
  repositories: ['Codertocat/Hello-World'],
  authors: ['Codertocat'],
  mention: 'steward',
  assignee: 'Codertocat',
  labels: [],
  reviewers: [],
  wakes: wakeKinds,
}
const read = (payload: object, changed: Partial<GithubConfig> = {}) =>
  githubIntegration.read(new TextEncoder().encode(JSON.stringify(payload)))({
    ...config,
    ...changed,
  })
const examplesOf = (name: string, action: string) =>
  published
    .filter((each) => each.name === name)
    .flatMap(({ examples }) => examples)
    .filter((each) => each['action'] === action && 'repository' in each)

describe('what wakes an agent on GitHub', () => {
  it('is a failure in each published payload of checks, of the newest commit', () => {
    const suites = examplesOf('check_suite', 'completed')
    let woken = 0
    for (const payload of suites) {
      const suite = z.looseObject({ head_sha: z.string() }).parse(payload['check_suite'])
      const kindOf = (changed: object, more: Partial<GithubConfig> = {}) => {
        const found = read({ ...payload, check_suite: { ...suite, ...changed } }, more)
        return found.kind === 'message' ? found.wake?.kind : found.kind
      }
      if (kindOf({ conclusion: 'failure' }) !== 'failed_checks') continue
      woken++
      assert.equal(kindOf({ conclusion: 'timed_out' }), 'failed_checks')
      for (const conclusion of ['success', 'cancelled', 'action_required', null])
        assert.equal(kindOf({ conclusion }), 'ignored', String(conclusion))
      const failed = { conclusion: 'failure' }
      assert.equal(kindOf({ ...failed, app: { slug: 'steward' } }), 'ignored')
      assert.equal(kindOf({ ...failed, pull_requests: [] }), 'ignored')
      assert.equal(kindOf({ ...failed, head_sha: 'f'.repeat(40) }), 'ignored', 'it is not newest')
      assert.equal(kindOf(failed, { wakes: ['new_commits'] }), 'ignored')
      assert.equal(kindOf(failed, { repositories: [] }), 'ignored')
    }
    assert.ok(woken > 0)
  })

  it('is a push of another person in each published payload of new commits', () => {
    const pushes = examplesOf('pull_request', 'synchronize')
    assert.ok(pushes.length > 0)
    for (const payload of pushes) {
      const found = read(payload)
      assert.ok(found.kind === 'message')
      assert.deepEqual(found.wake, {
        ...{ kind: 'new_commits', opener: 'agent', head: payload['after'] },
        pull_request: found.scope,
      })
      const stranger = read(payload, { authors: [], assignee: 'steward[bot]' })
      assert.equal(stranger.kind === 'message' && stranger.wake?.opener, 'other')
      const sender = { login: 'Codertocat', type: 'Bot' }
      assert.equal(read({ ...payload, sender }).kind, 'ignored', 'programs wake nobody')
      assert.equal(read(payload, { wakes: [] }).kind, 'ignored')
    }
  })

  it('is a review of whoever may call the agent, that requests changes', () => {
    const reviews = examplesOf('pull_request_review', 'submitted')
    assert.ok(reviews.length > 0)
    for (const payload of reviews) {
      const review = { ...z.looseObject({}).parse(payload['review']), state: 'changes_requested' }
      const changed = { ...payload, review: { ...review, body: 'Rename it.' } }
      const found = read(changed)
      assert.ok(found.kind === 'message')
      assert.equal(found.wake?.kind, 'changes_requested')
      assert.ok(found.text.endsWith('\n\nRename it.'))
      assert.equal(read(payload).kind, 'ignored', 'a comment requests nothing')
      const stranger = read(changed, { authors: ['ada'] })
      assert.ok(stranger.kind === 'ignored' && stranger.reason === 'unrelated')
      const mention = read({ ...changed, review: { ...review, body: '@steward rename it' } })
      assert.ok(mention.kind === 'message' && mention.wake === undefined)
    }
  })
})

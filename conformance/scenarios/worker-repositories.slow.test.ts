/** Repositories of sessions on workers: our worker as a process, git's own server over https, real sandboxes. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe } from 'node:test'
import { connectBy } from '@steward/server/engine/egress/fixture.ts'
import type { GitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import { all, logOf, post, say, textOf } from '../turns.ts'
import { verifies } from '../verifies.ts'
import type { WorkerProcess } from '../worker-process.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import type { WorkerPool } from '../workers.ts'
import { newPool, poll, sessionIn, tokenOf } from '../workers.ts'

const token = 'canary-of-a-repository-0123456789'
const base = 'https://api.example'

describe('repositories on workers', () => {
  let service: TestService
  let git: GitServer
  before(async () => {
    git = await gitServer()
    const { server } = git
    const dial = async () => connect(server.port, '127.0.0.1')
    const outside = { connect: connectBy({ 'api.example': server }), dial }
    service = await boot('sqlite', {
      env: { WORKER_INPUTS: 'repositories' },
      overrides: { nameOverride: outside },
    })
  })
  after(async () => {
    await service.close()
    await git[Symbol.asyncDispose]()
  })

  const repository = (path: string, more: object = {}) => ({
    ...{ type: 'github_repository', url: base + path, authorization_token: token },
    ...more,
  })
  const sessionWith = (pool: WorkerPool, ...resources: object[]) =>
    sessionIn(service, pool, {}, { resources })
  async function run(session: string, command: string): Promise<string> {
    const stream = await service.client.beta.sessions.events.stream(session)
    await post(service, session, `run: ${command}`)
    for await (const event of stream)
      if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break
    return (
      all(await say(service, session), 'user.tool_result')
        .map(textOf)
        .at(-1) ?? ''
    )
  }
  const working = (pool: WorkerPool, env: Record<string, string> = {}): Promise<WorkerProcess> =>
    startWorker({ ...workerVariables(service, pool), WORKER_LEASE_SECONDS: '10', ...env })

  verifies(
    ['worker/input/files-repositories', 'worker/input/repositories'],
    'are cloned at their paths, on a branch or a commit, and pushed to, by a token that stays in the service',
    async () => {
      await git.create('/one/two', { a: 'first\n' }, token)
      const first = await git.git('/one/two', 'rev-parse', 'main')
      await git.commit('/one/two', 'side', { a: 'second\n' })
      const pool = await newPool(service)
      await using worker = await working(pool)
      const session = await sessionWith(
        pool,
        repository('/one/two'),
        repository('/one/two', {
          mount_path: 'deep/side',
          checkout: { type: 'branch', name: 'side' },
        }),
        repository('/one/two', {
          mount_path: '/workspace/at',
          checkout: { type: 'commit', sha: first },
        }),
      )
      const look = 'for d in two deep/side at; do cat $d/a; git -C $d status -sb | head -1; done'
      assert.equal(
        await run(session, `${look}; git -C two remote -v | head -1`),
        `first\n## main...origin/main\nsecond\n## side...origin/side\nfirst\n## HEAD (no branch)\norigin\t${base}/one/two (fetch)\n`,
        worker.said(),
      )
      const commit = 'git -c user.name=a -c user.email=a@b.example commit -qam more'
      const pushed = await run(session, `cd two && echo third >a && ${commit} && git push -q; env`)
      assert.equal(await git.git('/one/two', 'show', 'main:a'), 'third')
      const shown = await service.ask('GET', `/v1/sessions/${session}`)
      const told = JSON.stringify([
        pushed,
        worker.said(),
        shown.body,
        await logOf(service, session),
      ])
      assert.ok(!told.includes(token))
    },
  )

  verifies(
    'worker/input/restored',
    'are not cloned again if the working folder came from its checkpoint',
    async () => {
      await git.create('/one/kept', { a: 'first\n' }, token)
      const pool = await newPool(service)
      await using one = await working(pool)
      const session = await sessionWith(pool, repository('/one/kept'))
      await run(session, 'echo mine >> kept/a; touch kept/.git/mark')
      assert.equal(await one.stop(), 0, one.said())
      await git.commit('/one/kept', 'main', { a: 'another\n' })
      await using other = await working(pool)
      const seen = await run(session, 'cat kept/a; ls kept/.git/mark; git -C kept status -s')
      assert.match(seen, /^first\nmine\nkept\/\.git\/mark\n M a\n/, other.said())
      assert.match(other.said(), /"kind":"restored"/)
    },
  )

  verifies(
    'worker/input/repository-credential',
    'have a token that neither the session nor the secret of its work has in it',
    async () => {
      const pool = await newPool(service)
      const session = await sessionWith(pool, repository('/one/two'))
      const item = await poll(service, pool)
      const secret = Buffer.from(item?.secret ?? '', 'base64url').toString()
      assert.deepEqual(Object.keys(JSON.parse(secret) as object), ['sessions_token'])
      const mine = { 'x-api-key': '', authorization: `Bearer ${tokenOf(item?.secret ?? '')}` }
      const seen = await service.ask('GET', `/v1/sessions/${session}`, undefined, mine)
      assert.equal(seen.status, 200)
      assert.match(JSON.stringify(seen.body), /"url":"https:\/\/api\.example\/one\/two"/)
      assert.ok(!JSON.stringify([item, secret, seen.body]).includes(token))
    },
  )

  verifies(
    ['work/state/start-failed', 'worker/input/repository-failed'],
    'that cannot be cloned are reported by their type, start nothing and stop nothing, and are tried again',
    async () => {
      await git.create('/one/secret', { a: 'first\n' }, 'another')
      await git.create('/one/open', { a: 'first\n' }, token)
      const failing: [object, string, RegExp][] = [
        [repository('/one/secret'), 'repository_authentication_error', /wants a token/],
        [repository('/one/never'), 'repository_not_found_error', /no such repository/],
        [
          repository('/one/open', { checkout: { type: 'branch', name: 'never' } }),
          'repository_checkout_error',
          /no such branch/,
        ],
        [
          repository('/one/open', { checkout: { type: 'commit', sha: '1'.repeat(40) } }),
          'repository_checkout_error',
          /no such commit/,
        ],
      ]
      for (const [wanted, type, why] of failing) {
        const pool = await newPool(service)
        await using worker = await working(pool)
        const session = await sessionWith(pool, wanted)
        await worker.until(/the harness ended/)
        assert.match(worker.said(), /"how":"refused"/)
        await worker.stop()
        const [error] = all(await say(service, session), 'session.error')
        const told = error?.['error'] as { type: string; message: string }
        assert.equal(told.type, type, worker.said())
        assert.match(told.message, why)
        const { body } = await service.ask('GET', `${pool.path}/work`)
        assert.deepEqual(
          body.data.map((item) => item['state']),
          ['active'],
        )
        if (type !== 'repository_authentication_error') continue
        git.setToken('/one/secret', token)
        let item = null
        while (!item) item = await poll(service, pool, '?block_ms=999')
        assert.equal(item.data.id, session)
      }
    },
  )
})

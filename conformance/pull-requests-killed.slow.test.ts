/** A server is killed while agents open pull requests: before GitHub is asked to make them, and before its answer is kept. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import {
  deliverGithub,
  githubComment,
  githubSettings,
  githubStub,
  installGithub,
} from './github.ts'
import { localSettings, settingsIn, startServer } from './process.ts'
import { kinds } from './publishing.ts'
import type { ReceivedPost, ReceiverAnswer } from './receiver.ts'
import { startReceiver } from './receiver.ts'
import type { LooseBody } from './service.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

/** Where the server is killed, by the issue: before GitHub gets the request, or before the server gets the answer. */
const stages = new Map<number, { request: RegExp; when: 'before' | 'after' }>([
  [301, { request: /^GET \/github\/api\/repos\/acme\/shop\/pulls\?/, when: 'before' }],
  [302, { request: /^GET \/github\/api\/repos\/acme\/shop\/git\/ref\//, when: 'after' }],
  [303, { request: /^POST \/github\/api\/repos\/acme\/shop\/pulls$/, when: 'before' }],
  [304, { request: /^POST \/github\/api\/repos\/acme\/shop\/pulls$/, when: 'after' }],
  [305, { request: /^POST \/github\/api\/repos\/acme\/shop\/pulls$/, when: 'after' }],
])
const issues = [...stages.keys()]
const branchOf = (issue: number): string => `mend-${issue}`

const opening = (issue: number): string =>
  `@steward\ncall open_pull_request ${JSON.stringify({ title: 'Mend', body: '', branch: branchOf(issue) })}`

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`pull requests of a killed server on ${database}`, () => {
    verifies(
      ['integrations/pull-requests', 'integrations/pull-requests/thread'],
      'each agent has opened one pull request in the end, and has its number',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-pulls-'))
        const stub = githubStub([{ id: 42, login: 'acme' }])
        for (const issue of issues) stub.code.branches.add(branchOf(issue))
        const github = await startReceiver()
        const held = new Set<number>()
        let isHolding = true
        const never = new Promise<ReceiverAnswer>(() => {})
        const answerTo = (posted: ReceivedPost) => stub.answer(posted) ?? { status: 404 }
        github.answerWith((posted) => {
          const { method, path, body } = posted
          const issue = Number(/mend-(\d+)/.exec(`${path} ${body}`)?.[1])
          const stage = stages.get(issue)
          if (!isHolding || !stage?.request.test(`${method} ${path}`)) return answerTo(posted)
          held.add(issue)
          if (stage.when === 'after') answerTo(posted)
          return never
        })
        const env = {
          ...(await settingsIn(folder, database)),
          ...localSettings,
          ...githubSettings(github.base),
        }
        const first = await startServer(env)
        const service = clientsOf(first.base)
        const installation_id = await installGithub(service)
        const agent = await service.client.beta.agents.create({ name: 'a', model: 'offline' })
        const environment = await service.client.beta.environments.create({ name: 'e' })
        const { status, body: made } = await service.ask('POST', `${kinds}/github/publications`, {
          ...{ agent: agent.id, environment_id: environment.id, installation_id },
          github: {
            ...{ repositories: ['acme/shop'], authors: ['ada'] },
            pull_requests: { type: 'always_allow' },
          },
        })
        assert.equal(status, 200)
        for (const issue of issues)
          await deliverGithub(
            first.base,
            'issue_comment',
            githubComment(issue, opening(issue), { id: issue }),
          )
        await until(() => held.size === issues.length)
        await first.kill()
        assert.equal(stub.code.pulls.size, 2, 'GitHub has made those whose answer was lost')
        isHolding = false

        await using last = await startServer(env)
        const bodies = (number: number) =>
          [...stub.comments.values()]
            .filter(({ path }) => path === `acme/shop#${number}`)
            .map(({ body }) => body)
        const numberOf = (issue: number) => /"number":(\d+)/.exec(bodies(issue).at(-1) ?? '')?.[1]
        const isDone = () => issues.every((issue) => numberOf(issue) !== undefined)
        // The leases of the killed server end after a minute.
        for (let n = 0; n < 3 && !isDone(); n++) await until(isDone).catch(() => {})
        assert.deepEqual(
          [...stub.code.pulls.values()].map(({ head }) => head).toSorted(),
          issues.map(branchOf),
        )
        for (const issue of issues) {
          const pull = stub.code.pulls.get(Number(numberOf(issue)))
          assert.equal(pull?.head, branchOf(issue))
          assert.match(pull.body, new RegExp(`^Closes #${issue}\n\n<!-- steward:`))
        }

        // What is asked in such a pull request comes to the session that has opened it.
        const asked = Number(numberOf(304))
        const mention = githubComment(asked, '@steward\nsay: Here.', { isPull: true, id: 1_000 })
        await deliverGithub(last.base, 'issue_comment', mention)
        await until(() => bodies(asked).at(-1)?.startsWith('Here.') ?? false)
        const { body: listed } = await clientsOf(last.base).ask<LooseBody>(
          'GET',
          `${kinds}/github/publications/${made.id}/deliveries`,
        )
        assert.equal(listed.data[0]?.['scope'], 'acme/shop#304')
        await github.close()
        await rm(folder, { recursive: true, force: true })
      },
    )
  })
}

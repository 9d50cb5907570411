/** A server is killed between acknowledging deliveries, reading what is around them, and telling the ends of turns. */
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
import { startReceiver } from './receiver.ts'
import type { ServiceClients } from './service.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

/** After so many requests to GitHub a server is killed: among reactions, reads, comments and their edits. */
const killedAfter = [5, 17, 31]
/** The issues in which the people of each server ask. */
const issuesOf = (round: number): number[] =>
  Array.from({ length: 8 }, (_, n) => 100 + 10 * round + n)

/** The last one of each server is a pull request, in which the agent remarks on a line. */
const isPull = (issue: number): boolean => issue % 10 === 7
const textOf = (issue: number): string =>
  isPull(issue) ? `Answer ${issue}.\n\n### src/pay.ts:1\nName it sum.` : `Answer ${issue}.`

async function publish(service: ServiceClients): Promise<void> {
  const installation_id = await installGithub(service)
  const agent = await service.client.beta.agents.create({ name: 'answers', model: 'offline' })
  const environment = await service.client.beta.environments.create({ name: 'answers' })
  const { status } = await service.ask('POST', `${kinds}/github/publications`, {
    ...{ agent: agent.id, environment_id: environment.id, installation_id },
    github: { repositories: ['acme/shop'], authors: ['ada'] },
  })
  assert.equal(status, 200)
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`comments of a killed server on ${database}`, () => {
    verifies(
      [
        'integrations/signs',
        'integrations/answers',
        'integrations/deliveries/once',
        'integrations/github/remarks',
      ],
      'each mention has one comment in the end, which is the answer, and remarks on lines one review',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-comments-'))
        const stub = githubStub([{ id: 42, login: 'acme' }])
        const github = await startReceiver()
        let requests = 0
        const unanswered = new Set<string>()
        github.answerWith((posted) => {
          requests++
          const answer = stub.answer(posted) ?? { status: 404 }
          // The server that has posted this is killed before it learns that it is there.
          const place = [...unanswered].find((each) => posted.path.endsWith(each))
          if (place !== undefined && posted.method === 'POST') {
            unanswered.delete(place)
            return new Promise<null>((resolve) => setTimeout(resolve, 2_000, null))
          }
          return answer
        })
        const env = {
          ...(await settingsIn(folder, database)),
          ...localSettings,
          ...githubSettings(github.base),
        }
        const deliver = (base: string, issues: readonly number[]) =>
          Promise.allSettled(
            issues.map((issue) =>
              deliverGithub(
                base,
                'issue_comment',
                githubComment(issue, `@steward\nsay: <<E\n${textOf(issue)}\nE`, {
                  ...{ id: issue, isPull: isPull(issue) },
                }),
              ),
            ),
          )
        const first = await startServer(env)
        await publish(clientsOf(first.base))
        await first.kill()
        for (const [round, most] of killedAfter.entries()) {
          const server = await startServer(env)
          requests = 0
          const [issue] = issuesOf(round)
          unanswered.add(`/issues/${issue}/comments`)
          for (const each of issuesOf(round).filter(isPull))
            unanswered.add(`/pulls/${each}/reviews`)
          const sent = deliver(server.base, issuesOf(round))
          await until(() => requests >= most && unanswered.size === 0)
          await server.kill()
          await sent
        }
        await using last = await startServer(env)
        const issues = killedAfter.flatMap((_, round) => issuesOf(round))
        // GitHub sends again what was not answered.
        await deliver(last.base, issues)
        const bodies = (issue: number) =>
          [...stub.comments.values()]
            .filter(({ path }) => path === `acme/shop#${issue}`)
            .map(({ body }) => body.split('\n')[0])
        const isDone = () => issues.every((issue) => bodies(issue).at(-1) === `Answer ${issue}.`)
        // The leases of the killed servers end after a minute, and another passes before the next look.
        for (let n = 0; n < 3 && !isDone(); n++) await until(isDone).catch(() => {})
        for (const issue of issues) assert.deepEqual(bodies(issue), [`Answer ${issue}.`])
        // Remarks on lines are one review, and the answer leaves them out.
        assert.deepEqual(
          stub.reviews.map(({ number }) => number).toSorted((a, b) => a - b),
          issues.filter(isPull),
        )
        for (const { body } of stub.comments.values()) assert.ok(!body.includes('### src/pay.ts'))
        const reacted = new Set(stub.around.reactions)
        assert.deepEqual(
          [...reacted].toSorted(),
          issues.map((issue) => `issues/comments/${issue}`),
        )
        await github.close()
        await rm(folder, { recursive: true, force: true })
      },
    )
  })
}

/** The time until a session's first command has run, with and without a repository. */
import { randomBytes } from 'node:crypto'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { boot } from '../../conformance/service.ts'
import { newSession, turn } from '../../conformance/turns.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'

const runs = 21
const files = 100
const bytes = 5 * 1024
const tools = [{ type: 'agent_toolset_20260401' }]

export async function* repositories(): AsyncGenerator<Figure> {
  await using git = await gitServer()
  const content = () => randomBytes(bytes / 2).toString('hex')
  const made = Array.from({ length: files }, (_, n) => [`file-${n}`, content()] as const)
  await git.create('/one/repository', Object.fromEntries(made), 'a-token-of-the-bench')
  // Checkpoints are off, because another case measures the end of a turn.
  const env = { CHECKPOINTS: 'off' }
  const outside = { connect: connectTo(git.server), dial: () => Promise.reject(new Error('none')) }
  const service = await boot('sqlite', { env, overrides: { nameOverride: outside } })
  const repository = {
    type: 'github_repository',
    url: 'https://api.example/one/repository',
    authorization_token: 'a-token-of-the-bench',
  }
  const first = async (resources: object[]): Promise<number> => {
    const session = await newSession(service, { tools }, { resources })
    const began = performance.now()
    await turn(service, session, 'call bash {"command":"true"}')
    return performance.now() - began
  }
  await first([])
  const cold = await first([repository])
  const spent = { without: [] as number[], having: [] as number[] }
  for (let run = 0; run < runs; run++) {
    spent.without.push(await first([]))
    spent.having.push(await first([repository]))
  }
  await service.close()
  const added = median(spent.having) - median(spent.without)
  const what = `a repository of ${files} files`
  yield { what: `${what}, first session, whole turn`, value: cold, unit: 'ms' }
  yield { what: `${what}, added to a later one`, value: added, unit: 'ms', goal: 50 }
}

/** The time until a session's first command has run, with and without packages of the environment. */
import { startRegistries } from '@steward/server/engine/installs/registry-fixture.ts'
import { boot } from '../../conformance/service.ts'
import { newSession, turn } from '../../conformance/turns.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'

const runs = 21
const tools = [{ type: 'agent_toolset_20260401' }]

export async function* packages(): AsyncGenerator<Figure> {
  await using registries = await startRegistries()
  const { sources, registry: outside } = registries
  const list = Object.entries(sources).map((pair) => pair.join('='))
  // Checkpoints are off, because another case measures the end of a turn.
  const env = { CHECKPOINTS: 'off', PACKAGE_REGISTRIES: list.join(',') }
  const service = await boot('sqlite', { env, overrides: { nameOverride: outside } })
  const environment = async (name: string, wanted: object): Promise<string> =>
    (await service.ask('POST', '/v1/environments', { name, packages: wanted })).body.id
  const without = await environment('without', {})
  const having = await environment('having', { npm: ['tiny-npm'], pip: ['tiny-pip'] })
  const first = async (environment_id: string): Promise<number> => {
    const session = await newSession(service, { tools }, { environment_id })
    const began = performance.now()
    await turn(service, session, 'call bash {"command":"true"}')
    return performance.now() - began
  }
  await first(without)
  const cold = await first(having)
  const spent = { without: [] as number[], having: [] as number[] }
  for (let run = 0; run < runs; run++) {
    spent.without.push(await first(without))
    spent.having.push(await first(having))
  }
  await service.close()
  const added = median(spent.having) - median(spent.without)
  const what = 'packages of npm and pip'
  yield { what: `${what}, first session, whole turn`, value: cold, unit: 'ms' }
  yield { what: `${what}, added to a later one`, value: added, unit: 'ms', goal: 50 }
}

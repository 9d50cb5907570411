/** What a sandbox by a container engine must do: the contract of all, and what is an engine's own. */
import { after, before, describe } from 'node:test'
import { runCases, sandboxContract } from '../contract.ts'
import { escapeCases } from './escape.ts'
import type { EngineKind } from './fixture.ts'
import { enginePlace, startEngine } from './fixture.ts'
import type * as fromUrl from './from-url.ts'
import { imageCases } from './images.cases.ts'
import { registry } from './registry.ts'

export async function engineTests(kind: EngineKind): Promise<void> {
  const place = enginePlace(kind)
  const query = new URLSearchParams({ kind, socket: place.socket })
  const module = `${import.meta.resolve('./from-url.ts')}?${query.toString()}`
  const { engineSandboxes } = (await import(module)) as typeof fromUrl
  describe(`with an engine, ${kind}`, () => {
    let stop: () => Promise<void>
    before(async () => {
      const images = await registry()
      const engine = await startEngine(kind, place, images.address)
      stop = async () => {
        await engine.stop()
        await images.close()
      }
    })
    after(() => stop())
    sandboxContract(kind, engineSandboxes, { module })
    const groups = { escape: escapeCases, images: imageCases }
    runCases(`sandboxes by ${kind}`, engineSandboxes, { module, skip: [], groups })
  })
}

/** Runs the contract of all sandboxes and the cases of containers on an engine that is started for the test. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe } from 'node:test'
import { runCases, sandboxContract } from '../contract.ts'
import { isolationCases } from '../isolation/contract.ts'
import { containerCases, imageCases } from './contract.ts'
import { engineAt } from './engine.ts'
import type { EngineKind } from './fixture.ts'
import { engineSetup, startEngine } from './fixture.ts'
import type * as providerFixture from './provider-fixture.ts'
import { startRegistry } from './registry-fixture.ts'

/**
 * `npm test` runs each case of the common contract on one of the two engines, which is always the same, and `npm run
 * test:long` on both. The cases of containers and of isolation run on both each time.
 */
const casesOf = (kind: EngineKind) => (sentence: string) => {
  if (process.env['STEWARD_TEST_LONG'] === '1') return true
  const [byte = 0] = createHash('sha256').update(sentence).digest()
  return (byte % 2 === 0) === (kind === 'docker')
}

export async function engineTests(kind: EngineKind): Promise<void> {
  const setup = engineSetup(kind)
  const query = new URLSearchParams({ kind, socket: setup.socket })
  const module = `${import.meta.resolve('./provider-fixture.ts')}?${query.toString()}`
  const { engineSandboxes, reportedLines } = (await import(module)) as typeof providerFixture
  describe(`with an engine, ${kind}`, () => {
    let images: Awaited<ReturnType<typeof startRegistry>> | undefined
    let running: Awaited<ReturnType<typeof startEngine>> | undefined
    before(async () => {
      images = await startRegistry()
      running = await startEngine(kind, setup, images.address)
    })
    after(async () => {
      await images?.close()
      await running?.stop()
    })
    sandboxContract(kind, engineSandboxes, { module, isChosen: casesOf(kind) })
    const there = () => {
      assert.ok(images)
      return {
        socket: setup.socket,
        engine: engineAt(setup.socket),
        images,
        reported: reportedLines,
      }
    }
    const groups = {
      isolation: isolationCases,
      container: containerCases,
      images: imageCases(there),
    }
    runCases(`sandboxes by ${kind}`, engineSandboxes, { module, skip: [], groups })
  })
}

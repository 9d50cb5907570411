/** The contract of every sandbox, whatever its isolation. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { egressCases } from './egress/contract.ts'
import { fileCases } from './files/contract.ts'
import type { ContractCases } from './fixture.ts'
import { bench } from './fixture.ts'
import { lifeCases } from './life/contract.ts'
import { outputCases } from './output/contract.ts'
import type { SandboxProvider } from './sandbox.ts'
import { shellCases } from './shell/contract.ts'

export type SkippedCases = { reason: string; cases: string[] }

/** `module`: URL of the file that exports `make`. */
export function sandboxContract(
  name: string,
  make: () => SandboxProvider,
  {
    module,
    skip = [],
    isChosen = () => true,
  }: { module: string; skip?: SkippedCases[]; isChosen?: (sentence: string) => boolean },
): void {
  const all = {
    ...{ shell: shellCases, output: outputCases, files: fileCases },
    ...{ life: lifeCases, egress: egressCases },
  }
  const groups = Object.fromEntries(
    Object.entries(all).map(([group, cases]) => [
      group,
      Object.fromEntries(Object.entries(cases).filter(([sentence]) => isChosen(sentence))),
    ]),
  )
  runCases(`sandbox contract: ${name}`, make, { module, skip, groups })
}

export function runCases(
  title: string,
  make: () => SandboxProvider,
  {
    module,
    skip,
    groups,
  }: { module: string; skip: SkippedCases[]; groups: Record<string, ContractCases> },
): void {
  const provider = make()
  const reasons = new Map(skip.flatMap(({ reason, cases }) => cases.map((each) => [each, reason])))
  for (const [group, cases] of Object.entries(groups)) {
    void describe(`${title}, ${group}`, () => {
      for (const [sentence, check] of Object.entries(cases)) {
        const reason = reasons.get(sentence)
        reasons.delete(sentence)
        void it(sentence, { skip: reason ?? false }, async () => {
          await using setup = bench(provider)
          await check(setup, { module, name: make.name })
        })
      }
    })
  }
  assert.deepEqual([...reasons.keys()], [], 'no such cases to skip')
}

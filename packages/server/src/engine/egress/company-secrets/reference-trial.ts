/** Tries references before a credential stores them, as other mistakes of a request are told before anything is kept. */
import { PlatformError, invalid } from '../../../ground/core/errors.ts'
import type { TryReferences } from '../../../resources/vaults/admit-references.ts'
import { valueProblem } from '../../../resources/vaults/references.ts'
import type { CompanySecrets } from './company-secrets.ts'

export const referenceTrial =
  ({ readAnew }: Pick<CompanySecrets, 'readAnew'>): TryReferences =>
  async ({ tenant, actor, vault, credential }, given) => {
    const reader = { tenant, session: null, vault, credential, actor }
    for (const { at, reference, auth, part } of given) {
      const found = await readAnew(reader, reference)
      if (!found.ok) {
        const problem = `${at}: ${found.message}`
        if (found.why === 'away') throw new PlatformError('unavailable', problem)
        throw invalid(problem)
      }
      const problem = valueProblem(auth, part, found.value)
      if (problem !== undefined) throw invalid(`${at}: the secret ${reference.name}: ${problem}`)
    }
  }

/** What a company's provider has said during one sign-in: the library asks it, and drops all but the profile. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { AdmittedProof } from '../identities/at-provider.ts'

const signIns = new AsyncLocalStorage<{ proof: AdmittedProof | undefined }>()

/** Runs a sign-in. `proof`: what was kept during it. */
export async function holdProof<T>(
  run: () => Promise<T>,
): Promise<{ answer: T; proof: AdmittedProof | undefined }> {
  const held = { proof: undefined as AdmittedProof | undefined }
  const answer = await signIns.run(held, run)
  return { answer, proof: held.proof }
}

export function keepProof(proof: AdmittedProof): void {
  const held = signIns.getStore()
  if (held) held.proof = proof
}

export const heldProof = (): AdmittedProof | undefined => signIns.getStore()?.proof

/** The signature of a release: over its checksums, by the identity that the code host gives to a run of its workflow. */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ReleaseContext } from './parts.ts'

const hasIdentity = (): boolean => process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined

/** Says what was signed, or why nothing was. */
export async function signed({ out }: ReleaseContext, checksums: string): Promise<string> {
  if (!hasIdentity()) return 'not signed: only the workflow of the code host has an identity'
  if (spawnSync('cosign', ['version']).status !== 0)
    throw new Error('there is an identity to sign with, and no cosign: install it in the workflow')
  const bundle = `${checksums}.sigstore.json`
  const words = ['sign-blob', '--yes', '--bundle', join(out, bundle), join(out, checksums)]
  await promisify(execFile)('cosign', words)
  return `signed: ${bundle}`
}
